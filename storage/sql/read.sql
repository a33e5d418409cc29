-- Reading, for the runner and for people.

-- name: load^
SELECT revision, state FROM conversation WHERE id = :conversation;

-- name: seen^
SELECT 1 AS seen FROM event WHERE event_id = :event_id;

-- name: event^
SELECT envelope FROM event WHERE event_id = :event_id;

-- name: open_conversations
-- Where a session has not ended.
SELECT DISTINCT conversation FROM session
WHERE ended_at IS NULL AND state IN ('routing', 'asking', 'closing', 'between')
    AND conversation >= :first AND conversation < :beyond
ORDER BY conversation;

-- name: unsent
SELECT row, conversation, platform, created_at, ready_at, attempts, error
FROM outbox
WHERE state = 'waiting'
ORDER BY +row; -- by the partial index of rows that wait

-- name: failures
-- Events that the program itself failed on, and those that were handled once more since.
SELECT event_id, conversation, at, kind, envelope, outcome, reason
FROM event
WHERE (outcome = 'refused' AND substr(reason, 1, length(:mistake)) = :mistake)
    OR event_id LIKE '%:again:%'
ORDER BY at, event_id;

-- name: conversation_of^
SELECT conversation FROM session WHERE session = :session;

-- name: sessions_begun^
-- Asked once for each session that begins in a shared place.
SELECT count(*) AS begun FROM session
WHERE conversation = :place OR (conversation >= :threads AND conversation < :beyond);

-- name: asking
-- In a place, in its threads ("place/…") and in its parts ("place:…").
SELECT conversation FROM session
WHERE state IN ('asking', 'closing') AND conversation >= :place AND conversation < :beyond
    AND (conversation = :place OR substr(conversation, length(CAST(:place AS TEXT)) + 1, 1) IN ('/', ':'))
GROUP BY conversation
ORDER BY max(started_at) DESC, conversation
LIMIT :limit;

-- name: asking_count^
-- On a whole platform; nobody counts further than :most.
SELECT count(*) AS counted FROM (
    SELECT 1 FROM session
    WHERE state IN ('asking', 'closing') AND conversation >= :first AND conversation < :beyond
    LIMIT :most
) AS open_rounds;

-- name: asking_few
-- Of a platform that has few: all are gathered by name, however many others have.
SELECT conversation FROM session
WHERE state IN ('asking', 'closing') AND conversation >= :first AND conversation < :beyond
GROUP BY conversation
ORDER BY max(started_at) DESC, conversation
LIMIT :limit;

-- name: asking_on
-- The newest of a platform that has many: walked through from the newest on, until there are enough. `|| ''` keeps both
-- databases from gathering all of a platform by name instead.
SELECT conversation FROM session AS newest
WHERE state IN ('asking', 'closing') AND conversation || '' >= :first AND conversation || '' < :beyond
    AND NOT EXISTS (
        SELECT 1 FROM session AS newer
        WHERE newer.state IN ('asking', 'closing') AND newer.conversation = newest.conversation
            AND newer.started_at >= newest.started_at
            AND (newer.started_at > newest.started_at OR newer.session > newest.session)
    )
ORDER BY started_at DESC, conversation
LIMIT :limit;

-- name: sessions
-- Newest first.
SELECT session, conversation, workflow, state, requester, request, started_at, ended_at, result
FROM session
ORDER BY started_at DESC, session DESC;

-- name: session^
SELECT session, conversation, workflow, state, requester, request, started_at, ended_at, result
FROM session
WHERE session = :session;

-- name: events
-- In the order in which they were applied: a replay folds them.
SELECT event_id, conversation, revision, at, platform_at, kind, envelope, outcome, reason
FROM event
WHERE conversation = :conversation
ORDER BY revision;

-- name: clarifications
SELECT
    id, phase, round, trigger, topic, why_it_matters, options, recommendation_rationale, chosen, chosen_at,
    chosen_via, user_message_ref, user_note, chosen_text, answered_by, surface, protocol, session, revision,
    question, platform_at
FROM clarification
ORDER BY session, length(id), id;

-- name: session_clarifications
SELECT
    id, phase, round, trigger, topic, why_it_matters, options, recommendation_rationale, chosen, chosen_at,
    chosen_via, user_message_ref, user_note, chosen_text, answered_by, surface, protocol, session, revision,
    question, platform_at
FROM clarification
WHERE session = :session
ORDER BY length(id), id; -- "…-1000" comes after "…-999"

-- name: session_history
SELECT
    id, phase, round, trigger, topic, why_it_matters, options, recommendation_rationale, chosen, chosen_at,
    chosen_via, user_message_ref, user_note, chosen_text, answered_by, surface, protocol, session, revision,
    question, platform_at
FROM clarification_history
WHERE session = :session
ORDER BY length(id), id, revision;

-- name: chains
-- Every chain that has a row or a head, and every session that has a clarification, which should be one.
SELECT chain FROM audit_head
UNION
SELECT chain FROM audit
UNION
SELECT session AS chain FROM clarification
UNION
SELECT session AS chain FROM clarification_history
ORDER BY chain;

-- name: chain
-- As verified: in the chain's own order.
SELECT id, chain, seq, at, event, phase, actor, details, details_hash, prev_hash, hash
FROM audit
WHERE chain = :chain
ORDER BY seq;

-- name: chain_head^
SELECT chain, seq, hash FROM audit_head WHERE chain = :chain;
