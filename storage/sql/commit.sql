-- What one commit writes, statement by statement, in this order. A batch of commits runs each once, over all its rows.
-- Conflicts are constraint violations, so the result of a batch is never asked for.

-- name: add_conversation*!
-- The first event of a place. Fails (primary key) when another commit was first.
INSERT INTO conversation (id, revision, state) VALUES (:conversation, :revision, :state);

-- name: advance_conversation*!
-- Fails (NOT NULL) when the stored revision is not the one that the state was computed from.
UPDATE conversation
SET state = :state, revision = CASE WHEN revision = :expected THEN CAST(:revision AS BIGINT) END
WHERE id = :conversation;

-- name: add_event*!
-- Fails (primary key) for a duplicate, (foreign key) when the conversation's row is gone.
INSERT INTO event (event_id, conversation, revision, at, platform_at, kind, envelope, outcome, reason)
VALUES (:event_id, :conversation, :revision, :at, :platform_at, :kind, :envelope, :outcome, :reason);

-- name: keep_withdrawn*!
-- Fails (NOT NULL) when there is no clarification of that id and revision to take back.
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
FROM (SELECT 1 AS one) AS always
LEFT JOIN clarification AS kept ON kept.session = :session AND kept.id = :id AND kept.revision = :revision;

-- name: drop_withdrawn*!
DELETE FROM clarification WHERE session = :session AND id = :id AND revision = :revision;

-- name: keep_clarification*!
-- Before a new revision takes its place.
INSERT INTO clarification_history (
    id, phase, round, trigger, topic, why_it_matters, options, recommendation_rationale, chosen, chosen_at,
    chosen_via, user_message_ref, user_note, chosen_text, answered_by, surface, protocol, session, revision,
    question, platform_at
)
SELECT
    id, phase, round, trigger, topic, why_it_matters, options, recommendation_rationale, chosen, chosen_at,
    chosen_via, user_message_ref, user_note, chosen_text, answered_by, surface, protocol, session, revision,
    question, platform_at
FROM clarification
WHERE session = :session AND id = :id;

-- name: put_clarification*!
-- Fails (NOT NULL) when its revision does not follow the last one, which is in the history by now.
INSERT INTO clarification (
    id, phase, round, trigger, topic, why_it_matters, options, recommendation_rationale, chosen, chosen_at,
    chosen_via, user_message_ref, user_note, chosen_text, answered_by, surface, protocol, session, revision,
    question, platform_at
)
VALUES (
    :id, :phase, :round, :trigger, :topic, :why_it_matters, :options, :recommendation_rationale, :chosen,
    :chosen_at, :chosen_via, :user_message_ref, :user_note, :chosen_text, :answered_by, :surface, :protocol,
    :session,
    CASE
        WHEN :revision = 1 + coalesce(
            (SELECT max(revision) FROM clarification_history WHERE session = :session AND id = :id), 0
        ) THEN :revision
    END,
    :question, :platform_at
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

-- name: put_session*!
INSERT INTO session (session, conversation, workflow, state, requester, request, started_at, ended_at, result)
VALUES (:session, :conversation, :workflow, :state, :requester, :request, :started_at, :ended_at, :result)
ON CONFLICT (session) DO UPDATE SET
    conversation = excluded.conversation, workflow = excluded.workflow, state = excluded.state,
    requester = excluded.requester, request = excluded.request, started_at = excluded.started_at,
    ended_at = excluded.ended_at, result = excluded.result;

-- name: add_audit*!
-- Fails (unique chain + seq) when another process has added to the chain.
INSERT INTO audit (chain, seq, at, event, phase, actor, details, details_hash, prev_hash, hash)
VALUES (:chain, :seq, :at, :event, :phase, :actor, :details, :details_hash, :prev_hash, :hash);

-- name: put_head*!
INSERT INTO audit_head (chain, seq, hash) VALUES (:chain, :seq, :hash)
ON CONFLICT (chain) DO UPDATE SET seq = excluded.seq, hash = excluded.hash;

-- name: settle*!
-- The first report counts: a second copy of the message does not take over the row.
UPDATE outbox
SET state = 'sent', message = :message, message_order = :message_order, lease_until = NULL
WHERE row = :row AND state <> 'sent';

-- name: supersede*!
-- Of the redraws of a card that nobody is sending, only the last one matters.
UPDATE outbox
SET state = 'superseded'
WHERE
    conversation = :conversation AND card = :card AND kind = 'redraw' AND state = 'waiting'
    AND (lease_until IS NULL OR lease_until <= :at);

-- name: add_outbox*!
INSERT INTO outbox (conversation, platform, kind, card, about, effect, created_at, ready_at)
VALUES (:conversation, :platform, :kind, :card, :about, :effect, :at, :at);

-- name: end_timer*!
-- A timer that was moved while it was coming due stays.
DELETE FROM timer WHERE conversation = :conversation AND name = :name AND at <= :at;

-- name: clear_timer*!
DELETE FROM timer WHERE conversation = :conversation AND name = :name;

-- name: set_timer*!
INSERT INTO timer (conversation, name, at, set_at) VALUES (:conversation, :name, :at, :set_at)
ON CONFLICT (conversation, name) DO UPDATE SET at = excluded.at, set_at = excluded.set_at, lease_until = NULL;

-- name: head^
SELECT seq, hash FROM audit_head WHERE chain = :chain;

-- name: stored_revision^
SELECT revision FROM conversation WHERE id = :conversation;
