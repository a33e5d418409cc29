-- The statements of storage/sql/commit.sql for PostgreSQL, each for all rows of a batch at once: every value is an array
-- with one entry a row. storage/postgres_batch.py makes one statement of those that a batch needs, so they all see the
-- database as it was before it, and no row may be written by two of them.

-- name: add_conversation!
INSERT INTO conversation (id, revision, state)
SELECT * FROM unnest(CAST(:conversation AS TEXT[]), CAST(:revision AS BIGINT[]), CAST(:state AS TEXT[]));

-- name: advance_conversation!
UPDATE conversation
SET state = given.state, revision = CASE WHEN conversation.revision = given.expected THEN given.revision END
FROM unnest(
    CAST(:conversation AS TEXT[]), CAST(:expected AS BIGINT[]), CAST(:revision AS BIGINT[]), CAST(:state AS TEXT[])
) AS given (id, expected, revision, state)
WHERE conversation.id = given.id;

-- name: add_event!
INSERT INTO event (event_id, conversation, revision, at, platform_at, kind, envelope, outcome, reason)
SELECT * FROM unnest(
    CAST(:event_id AS TEXT[]), CAST(:conversation AS TEXT[]), CAST(:revision AS BIGINT[]), CAST(:at AS BIGINT[]),
    CAST(:platform_at AS BIGINT[]), CAST(:kind AS TEXT[]), CAST(:envelope AS TEXT[]), CAST(:outcome AS TEXT[]),
    CAST(:reason AS TEXT[])
);

-- name: keep_clarification!
INSERT INTO clarification_history (
    id, phase, round, trigger, topic, why_it_matters, options, recommendation_rationale, chosen, chosen_at,
    chosen_via, user_message_ref, user_note, chosen_text, answered_by, surface, protocol, session, revision,
    question, platform_at
)
SELECT
    kept.id, kept.phase, kept.round, kept.trigger, kept.topic, kept.why_it_matters, kept.options,
    kept.recommendation_rationale, kept.chosen, kept.chosen_at, kept.chosen_via, kept.user_message_ref,
    kept.user_note, kept.chosen_text, kept.answered_by, kept.surface, kept.protocol, kept.session, kept.revision,
    kept.question, kept.platform_at
FROM unnest(CAST(:session AS TEXT[]), CAST(:id AS TEXT[])) AS given (session, id)
INNER JOIN clarification AS kept ON kept.session = given.session AND kept.id = given.id;

-- name: put_clarification!
-- The last revision is the one that stands (`keep_clarification` puts it into the history in this same moment), or the
-- newest in the history, where it was taken back.
INSERT INTO clarification (
    id, phase, round, trigger, topic, why_it_matters, options, recommendation_rationale, chosen, chosen_at,
    chosen_via, user_message_ref, user_note, chosen_text, answered_by, surface, protocol, session, revision,
    question, platform_at
)
SELECT
    given.id, given.phase, given.round, given.trigger, given.topic, given.why_it_matters, given.options,
    given.recommendation_rationale, given.chosen, given.chosen_at, given.chosen_via, given.user_message_ref,
    given.user_note, given.chosen_text, given.answered_by, given.surface, given.protocol, given.session,
    CASE
        WHEN given.revision = 1 + greatest(
            (SELECT revision FROM clarification AS stands WHERE stands.session = given.session AND stands.id = given.id),
            (
                SELECT max(earlier.revision) FROM clarification_history AS earlier
                WHERE earlier.session = given.session AND earlier.id = given.id
            ),
            0
        ) THEN given.revision
    END,
    given.question, given.platform_at
FROM unnest(
    CAST(:id AS TEXT[]), CAST(:phase AS BIGINT[]), CAST(:round AS BIGINT[]), CAST(:trigger AS TEXT[]),
    CAST(:topic AS TEXT[]), CAST(:why_it_matters AS TEXT[]), CAST(:options AS TEXT[]),
    CAST(:recommendation_rationale AS TEXT[]), CAST(:chosen AS TEXT[]), CAST(:chosen_at AS BIGINT[]),
    CAST(:chosen_via AS TEXT[]), CAST(:user_message_ref AS TEXT[]), CAST(:user_note AS TEXT[]),
    CAST(:chosen_text AS TEXT[]), CAST(:answered_by AS TEXT[]), CAST(:surface AS TEXT[]), CAST(:protocol AS TEXT[]),
    CAST(:session AS TEXT[]), CAST(:revision AS BIGINT[]), CAST(:question AS TEXT[]), CAST(:platform_at AS BIGINT[])
) AS given (
    id, phase, round, trigger, topic, why_it_matters, options, recommendation_rationale, chosen, chosen_at,
    chosen_via, user_message_ref, user_note, chosen_text, answered_by, surface, protocol, session, revision,
    question, platform_at
)
ON CONFLICT (session, id) DO UPDATE SET
    phase = excluded.phase, round = excluded.round, trigger = excluded.trigger, topic = excluded.topic,
    why_it_matters = excluded.why_it_matters, options = excluded.options,
    recommendation_rationale = excluded.recommendation_rationale, chosen = excluded.chosen,
    chosen_at = excluded.chosen_at, chosen_via = excluded.chosen_via,
    user_message_ref = excluded.user_message_ref, user_note = excluded.user_note,
    chosen_text = excluded.chosen_text, answered_by = excluded.answered_by, surface = excluded.surface,
    protocol = excluded.protocol, question = excluded.question, platform_at = excluded.platform_at,
    revision = CASE WHEN clarification.revision = excluded.revision - 1 THEN excluded.revision END;

-- name: put_session!
INSERT INTO session (session, conversation, workflow, state, requester, request, started_at, ended_at, result)
SELECT * FROM unnest(
    CAST(:session AS TEXT[]), CAST(:conversation AS TEXT[]), CAST(:workflow AS TEXT[]), CAST(:state AS TEXT[]),
    CAST(:requester AS TEXT[]), CAST(:request AS TEXT[]), CAST(:started_at AS BIGINT[]), CAST(:ended_at AS BIGINT[]),
    CAST(:result AS TEXT[])
)
ON CONFLICT (session) DO UPDATE SET
    conversation = excluded.conversation, workflow = excluded.workflow, state = excluded.state,
    requester = excluded.requester, request = excluded.request, started_at = excluded.started_at,
    ended_at = excluded.ended_at, result = excluded.result;

-- name: add_audit!
INSERT INTO audit (chain, seq, at, event, phase, actor, details, details_hash, prev_hash, hash)
SELECT * FROM unnest(
    CAST(:chain AS TEXT[]), CAST(:seq AS BIGINT[]), CAST(:at AS BIGINT[]), CAST(:event AS TEXT[]),
    CAST(:phase AS BIGINT[]), CAST(:actor AS TEXT[]), CAST(:details AS TEXT[]), CAST(:details_hash AS TEXT[]),
    CAST(:prev_hash AS TEXT[]), CAST(:hash AS TEXT[])
);

-- name: put_head!
INSERT INTO audit_head (chain, seq, hash)
SELECT * FROM unnest(CAST(:chain AS TEXT[]), CAST(:seq AS BIGINT[]), CAST(:hash AS TEXT[]))
ON CONFLICT (chain) DO UPDATE SET seq = excluded.seq, hash = excluded.hash;

-- name: settle!
UPDATE outbox
SET state = 'sent', message = given.message, message_order = given.message_order, lease_until = NULL
FROM unnest(
    CAST(:row AS BIGINT[]), CAST(:message AS TEXT[]), CAST(:message_order AS BIGINT[])
) AS given (row, message, message_order)
WHERE outbox.row = given.row AND outbox.state <> 'sent';

-- name: supersede!
UPDATE outbox
SET state = 'superseded'
FROM unnest(
    CAST(:conversation AS TEXT[]), CAST(:card AS TEXT[]), CAST(:at AS BIGINT[])
) AS given (conversation, card, at)
WHERE
    outbox.conversation = given.conversation AND outbox.card = given.card AND outbox.kind = 'redraw'
    AND outbox.state = 'waiting' AND (outbox.lease_until IS NULL OR outbox.lease_until <= given.at);

-- name: add_outbox!
-- Numbered in the order in which they were given.
INSERT INTO outbox (conversation, platform, kind, card, about, effect, created_at, ready_at)
SELECT given.conversation, given.platform, given.kind, given.card, given.about, given.effect, given.at, given.at
FROM unnest(
    CAST(:conversation AS TEXT[]), CAST(:platform AS TEXT[]), CAST(:kind AS TEXT[]), CAST(:card AS TEXT[]),
    CAST(:about AS TEXT[]), CAST(:effect AS TEXT[]), CAST(:at AS BIGINT[])
) WITH ORDINALITY AS given (conversation, platform, kind, card, about, effect, at, number)
ORDER BY given.number;

-- name: end_timer!
DELETE FROM timer
USING unnest(CAST(:conversation AS TEXT[]), CAST(:name AS TEXT[]), CAST(:at AS BIGINT[])) AS given (conversation, name, at)
WHERE timer.conversation = given.conversation AND timer.name = given.name AND timer.at <= given.at;

-- name: clear_timer!
DELETE FROM timer
USING unnest(CAST(:conversation AS TEXT[]), CAST(:name AS TEXT[])) AS given (conversation, name)
WHERE timer.conversation = given.conversation AND timer.name = given.name;

-- name: set_timer!
INSERT INTO timer (conversation, name, at, set_at)
SELECT * FROM unnest(
    CAST(:conversation AS TEXT[]), CAST(:name AS TEXT[]), CAST(:at AS BIGINT[]), CAST(:set_at AS BIGINT[])
)
ON CONFLICT (conversation, name) DO UPDATE SET at = excluded.at, set_at = excluded.set_at, lease_until = NULL;
