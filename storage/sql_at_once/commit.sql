-- The statements of storage/sql/commit.sql for PostgreSQL, each for all rows of a batch at once: every value is an array
-- with one entry a row. storage/postgres_batch.py makes one statement of those that a batch needs, so they all see the
-- database as it was before it, and no row may be written by two of them.
--
-- A row that is changed is found by `key = ANY(…)`, never by a join with the arrays. Of a join the planner chooses which
-- side it walks through; where it believes that a table is empty it takes the table, and keeps that plan while it grows.
-- `unnest` stands in the select list because in FROM each array would be written out and read again.

-- name: add_conversation!
INSERT INTO conversation (id, revision, state)
SELECT unnest(CAST(:conversation AS TEXT[])), unnest(CAST(:revision AS BIGINT[])), unnest(CAST(:state AS TEXT[]));

-- name: advance_conversation!
UPDATE conversation
SET
    state = (CAST(:state AS TEXT[]))[array_position(CAST(:conversation AS TEXT[]), id)],
    revision = CASE
        WHEN revision = (CAST(:expected AS BIGINT[]))[array_position(CAST(:conversation AS TEXT[]), id)]
            THEN (CAST(:revision AS BIGINT[]))[array_position(CAST(:conversation AS TEXT[]), id)]
    END
WHERE id = ANY(CAST(:conversation AS TEXT[]));

-- name: add_event!
INSERT INTO event (event_id, conversation, revision, at, platform_at, kind, envelope, outcome, reason)
SELECT
    unnest(CAST(:event_id AS TEXT[])), unnest(CAST(:conversation AS TEXT[])), unnest(CAST(:revision AS BIGINT[])),
    unnest(CAST(:at AS BIGINT[])), unnest(CAST(:platform_at AS BIGINT[])), unnest(CAST(:kind AS TEXT[])),
    unnest(CAST(:envelope AS TEXT[])), unnest(CAST(:outcome AS TEXT[])), unnest(CAST(:reason AS TEXT[]));

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
CROSS JOIN LATERAL (
    SELECT * FROM clarification AS stands
    WHERE stands.session = given.session AND stands.id = given.id
    OFFSET 0
) AS kept;

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
FROM (
    SELECT
        unnest(CAST(:id AS TEXT[])) AS id, unnest(CAST(:phase AS BIGINT[])) AS phase,
        unnest(CAST(:round AS BIGINT[])) AS round, unnest(CAST(:trigger AS TEXT[])) AS trigger,
        unnest(CAST(:topic AS TEXT[])) AS topic, unnest(CAST(:why_it_matters AS TEXT[])) AS why_it_matters,
        unnest(CAST(:options AS TEXT[])) AS options,
        unnest(CAST(:recommendation_rationale AS TEXT[])) AS recommendation_rationale,
        unnest(CAST(:chosen AS TEXT[])) AS chosen, unnest(CAST(:chosen_at AS BIGINT[])) AS chosen_at,
        unnest(CAST(:chosen_via AS TEXT[])) AS chosen_via,
        unnest(CAST(:user_message_ref AS TEXT[])) AS user_message_ref,
        unnest(CAST(:user_note AS TEXT[])) AS user_note, unnest(CAST(:chosen_text AS TEXT[])) AS chosen_text,
        unnest(CAST(:answered_by AS TEXT[])) AS answered_by, unnest(CAST(:surface AS TEXT[])) AS surface,
        unnest(CAST(:protocol AS TEXT[])) AS protocol, unnest(CAST(:session AS TEXT[])) AS session,
        unnest(CAST(:revision AS BIGINT[])) AS revision, unnest(CAST(:question AS TEXT[])) AS question,
        unnest(CAST(:platform_at AS BIGINT[])) AS platform_at
) AS given
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
SELECT
    unnest(CAST(:session AS TEXT[])), unnest(CAST(:conversation AS TEXT[])), unnest(CAST(:workflow AS TEXT[])),
    unnest(CAST(:state AS TEXT[])), unnest(CAST(:requester AS TEXT[])), unnest(CAST(:request AS TEXT[])),
    unnest(CAST(:started_at AS BIGINT[])), unnest(CAST(:ended_at AS BIGINT[])), unnest(CAST(:result AS TEXT[]))
ON CONFLICT (session) DO UPDATE SET
    conversation = excluded.conversation, workflow = excluded.workflow, state = excluded.state,
    requester = excluded.requester, request = excluded.request, started_at = excluded.started_at,
    ended_at = excluded.ended_at, result = excluded.result;

-- name: add_audit!
INSERT INTO audit (chain, seq, at, event, phase, actor, details, details_hash, prev_hash, hash)
SELECT
    unnest(CAST(:chain AS TEXT[])), unnest(CAST(:seq AS BIGINT[])), unnest(CAST(:at AS BIGINT[])),
    unnest(CAST(:event AS TEXT[])), unnest(CAST(:phase AS BIGINT[])), unnest(CAST(:actor AS TEXT[])),
    unnest(CAST(:details AS TEXT[])), unnest(CAST(:details_hash AS TEXT[])), unnest(CAST(:prev_hash AS TEXT[])),
    unnest(CAST(:hash AS TEXT[]));

-- name: put_head!
INSERT INTO audit_head (chain, seq, hash)
SELECT unnest(CAST(:chain AS TEXT[])), unnest(CAST(:seq AS BIGINT[])), unnest(CAST(:hash AS TEXT[]))
ON CONFLICT (chain) DO UPDATE SET seq = excluded.seq, hash = excluded.hash;

-- name: settle!
UPDATE outbox
SET
    state = 'sent', lease_until = NULL,
    message = (CAST(:message AS TEXT[]))[array_position(CAST(:row AS BIGINT[]), row)],
    message_order = (CAST(:message_order AS BIGINT[]))[array_position(CAST(:row AS BIGINT[]), row)]
WHERE row = ANY(CAST(:row AS BIGINT[])) AND state <> 'sent';

-- name: supersede!
-- Only the index of cards can be used: those of what waits are short at one time and very long at another.
UPDATE outbox
SET state = 'superseded'
WHERE
    row = ANY(ARRAY(
        SELECT drawn.row
        FROM unnest(CAST(:conversation AS TEXT[]), CAST(:card AS TEXT[])) AS given (conversation, card)
        CROSS JOIN LATERAL (
            SELECT earlier.row FROM outbox AS earlier
            WHERE earlier.conversation = given.conversation AND earlier.card = given.card
                AND earlier.kind = 'redraw' AND earlier.state || '' = 'waiting'
            OFFSET 0
        ) AS drawn
    ))
    AND state || '' = 'waiting'
    AND (
        lease_until IS NULL
        OR lease_until <= (CAST(:at AS BIGINT[]))[array_position(CAST(:conversation AS TEXT[]), conversation)]
    );

-- name: add_outbox!
-- Numbered in the order in which they were given.
INSERT INTO outbox (conversation, platform, kind, card, about, effect, created_at, ready_at)
SELECT
    unnest(CAST(:conversation AS TEXT[])), unnest(CAST(:platform AS TEXT[])), unnest(CAST(:kind AS TEXT[])),
    unnest(CAST(:card AS TEXT[])), unnest(CAST(:about AS TEXT[])), unnest(CAST(:effect AS TEXT[])),
    unnest(CAST(:at AS BIGINT[])), unnest(CAST(:at AS BIGINT[]));

-- name: end_timer!
-- One of a place.
DELETE FROM timer
WHERE
    conversation = ANY(CAST(:conversation AS TEXT[]))
    AND name = (CAST(:name AS TEXT[]))[array_position(CAST(:conversation AS TEXT[]), conversation)]
    AND at <= (CAST(:at AS BIGINT[]))[array_position(CAST(:conversation AS TEXT[]), conversation)];

-- name: clear_timer!
DELETE FROM timer
WHERE
    conversation = ANY(CAST(:conversation AS TEXT[]))
    AND ROW(conversation, name) = ANY(ARRAY(
        SELECT ROW(given.conversation COLLATE "C", given.name COLLATE "C")
        FROM unnest(CAST(:conversation AS TEXT[]), CAST(:name AS TEXT[])) AS given (conversation, name)
    ));

-- name: set_timer!
INSERT INTO timer (conversation, name, at, set_at)
SELECT
    unnest(CAST(:conversation AS TEXT[])), unnest(CAST(:name AS TEXT[])), unnest(CAST(:at AS BIGINT[])),
    unnest(CAST(:set_at AS BIGINT[]))
ON CONFLICT (conversation, name) DO UPDATE SET at = excluded.at, set_at = excluded.set_at, lease_until = NULL;
