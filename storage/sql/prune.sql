-- Removing what is old: whole places in which nothing is open and nothing has happened for long (storage/prune.py).

-- name: prunable
SELECT id, revision FROM conversation
WHERE id > :beyond
    AND NOT EXISTS (SELECT 1 FROM event WHERE event.conversation = conversation.id AND event.at >= :before)
    AND NOT EXISTS (
        SELECT 1 FROM session WHERE session.conversation = conversation.id AND session.ended_at IS NULL
    )
    AND NOT EXISTS (
        SELECT 1 FROM outbox WHERE outbox.conversation = conversation.id AND outbox.state = 'waiting'
    )
    AND NOT EXISTS (SELECT 1 FROM timer WHERE timer.conversation = conversation.id)
ORDER BY id
LIMIT :limit;

-- name: sessions_of
SELECT session FROM session WHERE conversation = :conversation ORDER BY started_at, session;

-- name: remove_events
DELETE FROM event WHERE conversation = :conversation RETURNING event_id;

-- name: remove_conversation^
-- Nothing, where something has happened meanwhile.
DELETE FROM conversation WHERE id = :conversation AND revision = :revision RETURNING id;

-- name: remove_clarifications
DELETE FROM clarification WHERE session = :session RETURNING id;

-- name: remove_history
DELETE FROM clarification_history WHERE session = :session RETURNING id;

-- name: remove_chain
DELETE FROM audit WHERE chain = :chain RETURNING seq;

-- name: remove_head
DELETE FROM audit_head WHERE chain = :chain RETURNING chain;

-- name: remove_session
DELETE FROM session WHERE session = :session RETURNING session;

-- name: outbox_after
-- Where the next portion ends.
SELECT row FROM outbox WHERE row > :beyond ORDER BY row LIMIT :limit;

-- name: sweep_outbox
-- Messages of places that are no more, of a portion.
DELETE FROM outbox
WHERE row > :beyond AND row <= :last AND state <> 'waiting'
    AND NOT EXISTS (SELECT 1 FROM conversation WHERE conversation.id = outbox.conversation)
RETURNING row;

-- name: kept_after
-- All that adapters keep, a portion at a time.
SELECT key, value FROM kept WHERE key > :beyond ORDER BY key LIMIT :limit;

-- name: remove_kept^
-- Nothing, where it says something else by now.
DELETE FROM kept WHERE key = :key AND value = :value RETURNING key;
