-- What only PostgreSQL can say, and only several writers need. The rest is in storage/sql, for both databases.

-- name: look
-- Before a batch is written: where its places and chains stand, and which of its events are known. The places and the
-- ends of the chains stay locked until the commit. Everybody locks places before chains, each in their order, so nobody
-- waits in a circle.
WITH place AS MATERIALIZED (
    SELECT id, revision FROM conversation
    WHERE id = ANY(CAST(:places AS TEXT[]))
    ORDER BY id
    FOR NO KEY UPDATE
),
ending AS MATERIALIZED (
    SELECT chain, seq, hash FROM audit_head
    WHERE chain = ANY(CAST(:chains AS TEXT[]))
    ORDER BY chain
    FOR NO KEY UPDATE
)
SELECT 'place' AS what, id AS name, revision AS number, NULL AS words FROM place
UNION ALL
SELECT 'event', event_id, revision, envelope FROM event WHERE event_id = ANY(CAST(:events AS TEXT[]))
UNION ALL
SELECT 'chain', chain, seq, hash FROM ending;

-- name: heads
-- The ends of chains, not locked: whoever is faster with one makes the batch go the longer way.
SELECT chain, seq, hash FROM audit_head WHERE chain = ANY(CAST(:chains AS TEXT[]));

-- name: abouts
-- `about` of storage/sql/outbox.sql for several messages, in their order.
SELECT found.about
FROM unnest(CAST(:conversations AS TEXT[]), CAST(:messages AS TEXT[]))
WITH ORDINALITY AS asked (conversation, message, number)
LEFT JOIN LATERAL (
    SELECT coalesce(outbox.about, outbox.card) AS about FROM outbox
    WHERE outbox.conversation = asked.conversation AND outbox.message = asked.message
    ORDER BY outbox.kind DESC, outbox.row
    LIMIT 1
) AS found ON TRUE
ORDER BY asked.number;

-- name: shown
-- As in storage/sql/outbox.sql. `+row`: or it might be looked for from the newest row of all places on.
SELECT effect FROM outbox
WHERE conversation = :conversation AND message = :message
ORDER BY +row DESC
LIMIT 1;

-- name: claim
-- As in storage/sql/outbox.sql, and of all platforms that are asked for at once (:platforms, `named` and `served` as in
-- `next_due`). Rows that another worker is taking at this moment are passed over. MATERIALIZED: the look must happen
-- once, or more rows of a platform than `limit` could be locked.
WITH RECURSIVE named (platform) AS (
    SELECT min(platform) FROM outbox WHERE state = 'waiting' AND behind IS NULL
    UNION ALL
    SELECT (
        SELECT min(further.platform) FROM outbox AS further
        WHERE further.state = 'waiting' AND further.behind IS NULL AND further.platform > named.platform
    )
    FROM named WHERE named.platform IS NOT NULL
),
served (platform) AS MATERIALIZED (
    SELECT platform FROM named
    WHERE platform IS NOT NULL AND 1 = CASE
        WHEN CAST(:platforms AS TEXT) IS NULL THEN 1
        WHEN replace(CAST(:platforms AS TEXT), ' ' || platform || ' ', '') <> CAST(:platforms AS TEXT) THEN 1
    END
),
ready AS MATERIALIZED (
    SELECT first.row, first.ready_at FROM served
    CROSS JOIN LATERAL (
        SELECT waiting.row, waiting.ready_at FROM outbox AS waiting
        WHERE waiting.state = 'waiting' AND waiting.behind IS NULL AND waiting.platform = served.platform
            AND waiting.ready_at <= :now
            AND (coalesce(waiting.lease_until, 0) <= :now OR waiting.lease_until > :jumped)
            AND waiting.row = (
                SELECT min(earlier.row) FROM outbox AS earlier
                WHERE earlier.conversation = waiting.conversation AND earlier.state = 'waiting'
            )
        ORDER BY waiting.ready_at, waiting.row
        LIMIT CAST(:limit AS BIGINT)
        FOR NO KEY UPDATE OF waiting SKIP LOCKED
    ) AS first
),
beyond AS MATERIALIZED (
    SELECT first.row, first.ready_at FROM served
    CROSS JOIN LATERAL (
        SELECT waiting.row, waiting.ready_at FROM outbox AS waiting
        WHERE waiting.state = 'waiting' AND waiting.behind IS NULL AND waiting.platform = served.platform
            AND waiting.ready_at > :jumped
            AND (coalesce(waiting.lease_until, 0) <= :now OR waiting.lease_until > :jumped)
            AND waiting.row = (
                SELECT min(earlier.row) FROM outbox AS earlier
                WHERE earlier.conversation = waiting.conversation AND earlier.state = 'waiting'
            )
        ORDER BY waiting.ready_at, waiting.row
        LIMIT CAST(:limit AS BIGINT)
        FOR NO KEY UPDATE OF waiting SKIP LOCKED
    ) AS first
),
free AS MATERIALIZED (
    SELECT due.row FROM (SELECT row, ready_at FROM ready UNION ALL SELECT row, ready_at FROM beyond) AS due
    ORDER BY due.ready_at, due.row
    LIMIT CAST(:limit AS BIGINT)
)
UPDATE outbox
SET lease_until = :until, attempts = attempts + CASE WHEN lease_until IS NULL THEN 0 ELSE 1 END
FROM free
WHERE outbox.row = free.row
RETURNING
    outbox.row, outbox.conversation, outbox.platform, outbox.kind, outbox.card, outbox.effect, outbox.created_at,
    outbox.attempts;

-- name: line_up
-- As in storage/sql/outbox.sql. Each row goes behind the one just before it, which is locked until then, so that it can
-- not leave unseen: whoever settles it waits, and its trigger finds the row behind. Nothing is waited for here.
WITH RECURSIVE named (platform) AS (
    SELECT min(platform) FROM outbox WHERE state = 'waiting' AND behind IS NULL
    UNION ALL
    SELECT (
        SELECT min(further.platform) FROM outbox AS further
        WHERE further.state = 'waiting' AND further.behind IS NULL AND further.platform > named.platform
    )
    FROM named WHERE named.platform IS NOT NULL
),
served (platform) AS MATERIALIZED (
    SELECT platform FROM named
    WHERE platform IS NOT NULL AND 1 = CASE
        WHEN CAST(:platforms AS TEXT) IS NULL THEN 1
        WHEN replace(CAST(:platforms AS TEXT), ' ' || platform || ' ', '') <> CAST(:platforms AS TEXT) THEN 1
    END
),
front AS MATERIALIZED (
    SELECT first.row, first.conversation FROM served
    CROSS JOIN LATERAL (
        SELECT waiting.row, waiting.conversation FROM outbox AS waiting
        WHERE waiting.state = 'waiting' AND waiting.behind IS NULL AND waiting.platform = served.platform
            AND waiting.ready_at <= :now
        ORDER BY waiting.ready_at, waiting.row
        LIMIT CAST(:front AS BIGINT)
    ) AS first
),
line AS MATERIALIZED (
    SELECT front.row, (
        SELECT max(earlier.row) FROM outbox AS earlier
        WHERE earlier.conversation = front.conversation AND earlier.state = 'waiting' AND earlier.row < front.row
    ) AS behind
    FROM front
),
before AS MATERIALIZED (
    SELECT row FROM outbox
    WHERE row = ANY(ARRAY(SELECT behind FROM line WHERE behind IS NOT NULL)) AND state = 'waiting'
    FOR SHARE SKIP LOCKED
),
later AS MATERIALIZED (
    SELECT row FROM outbox
    WHERE row = ANY(ARRAY(SELECT row FROM line WHERE behind IS NOT NULL)) AND state = 'waiting'
    FOR NO KEY UPDATE SKIP LOCKED
),
held AS MATERIALIZED (
    SELECT line.row, line.behind FROM line
    INNER JOIN before ON before.row = line.behind
    INNER JOIN later ON later.row = line.row
    ORDER BY line.row -- so all are locked before the first one is changed: then it could not be locked for the next
)
UPDATE outbox
SET behind = held.behind
FROM held
WHERE outbox.row = held.row
RETURNING outbox.row;

-- name: claim_timers
WITH ready AS MATERIALIZED (
    SELECT conversation, name, at FROM timer
    WHERE at <= :now AND (lease_until IS NULL OR lease_until <= :now OR lease_until > :jumped)
    ORDER BY at, conversation, name
    LIMIT CAST(:limit AS BIGINT)
    FOR NO KEY UPDATE SKIP LOCKED
),
beyond AS MATERIALIZED (
    SELECT conversation, name, at FROM timer
    WHERE at - set_at BETWEEN 0 AND 600000000 AND set_at > :jumped
        AND (lease_until IS NULL OR lease_until <= :now OR lease_until > :jumped)
    LIMIT CAST(:limit AS BIGINT)
    FOR NO KEY UPDATE SKIP LOCKED
),
free AS MATERIALIZED (
    SELECT conversation, name FROM (SELECT * FROM ready UNION SELECT * FROM beyond) AS due
    ORDER BY at, conversation, name
    LIMIT CAST(:limit AS BIGINT)
)
UPDATE timer
SET lease_until = :until
FROM free
WHERE timer.conversation = free.conversation AND timer.name = free.name
RETURNING timer.conversation, timer.name, timer.at;
