-- The outbox and the timers between commits.
-- Only the oldest waiting row of a conversation is ever given out, so messages keep their order.

-- name: waiting_on
-- The platforms of which something waits, each found by one look at the index.
WITH RECURSIVE named (platform) AS (
    SELECT min(platform) FROM outbox WHERE state = 'waiting' AND behind IS NULL
    UNION ALL
    SELECT (
        SELECT min(further.platform) FROM outbox AS further
        WHERE further.state = 'waiting' AND further.behind IS NULL AND further.platform > named.platform
    )
    FROM named WHERE named.platform IS NOT NULL
)
SELECT platform FROM named WHERE platform IS NOT NULL;

-- name: claim
-- Of one platform: what another process is to send is not looked at. The rows come in no order.
-- Walked in the order in which rows come due, until there are enough: those put off in a long outage are not looked at.
-- What lies beyond :jumped was written under a clock that has been set back since, and would wait until it comes again.
-- A row that is claimed once more was on its way already, and nobody knows how that ended: it counts as a try.
UPDATE outbox
SET lease_until = :until, attempts = attempts + CASE WHEN lease_until IS NULL THEN 0 ELSE 1 END
WHERE row IN (
    SELECT due.row FROM (
        SELECT row, ready_at FROM (
            SELECT waiting.row, waiting.ready_at FROM outbox AS waiting
            WHERE waiting.state = 'waiting' AND waiting.behind IS NULL AND waiting.platform = :platform
                AND waiting.ready_at <= :now
                AND (coalesce(waiting.lease_until, 0) <= :now OR waiting.lease_until > :jumped)
                AND waiting.row = (
                    SELECT min(earlier.row) FROM outbox AS earlier
                    WHERE earlier.conversation = waiting.conversation AND earlier.state = 'waiting'
                )
            ORDER BY waiting.ready_at, waiting.row
            LIMIT :limit
        ) AS ready
        UNION ALL
        SELECT row, ready_at FROM (
            SELECT waiting.row, waiting.ready_at FROM outbox AS waiting
            WHERE waiting.state = 'waiting' AND waiting.behind IS NULL AND waiting.platform = :platform
                AND waiting.ready_at > :jumped
                AND (coalesce(waiting.lease_until, 0) <= :now OR waiting.lease_until > :jumped)
                AND waiting.row = (
                    SELECT min(earlier.row) FROM outbox AS earlier
                    WHERE earlier.conversation = waiting.conversation AND earlier.state = 'waiting'
                )
            ORDER BY waiting.ready_at, waiting.row
            LIMIT :limit
        ) AS beyond
    ) AS due
    ORDER BY due.ready_at, due.row
    LIMIT :limit
)
RETURNING
    row, conversation, platform, kind, card, effect, created_at, attempts;

-- name: line_up
-- Of the first :front rows of a platform that are due, those that stand behind another one of their place are told so,
-- and are read no more until that one has gone (triggers of `outbox`, storage/schema.py). Otherwise each look would pass
-- over them one by one: thousands, where a place was put off in a long outage.
UPDATE outbox
SET behind = (
    SELECT max(earlier.row) FROM outbox AS earlier
    WHERE earlier.conversation = outbox.conversation AND earlier.state = 'waiting' AND earlier.row < outbox.row
)
WHERE row IN (
    SELECT front.row FROM (
        SELECT waiting.row, waiting.conversation FROM outbox AS waiting
        WHERE waiting.state = 'waiting' AND waiting.behind IS NULL AND waiting.platform = :platform
            AND waiting.ready_at <= :now
        ORDER BY waiting.ready_at, waiting.row
        LIMIT :front
    ) AS front
    WHERE front.row > (
        SELECT min(earlier.row) FROM outbox AS earlier
        WHERE earlier.conversation = front.conversation AND earlier.state = 'waiting'
    )
)
RETURNING row;

-- name: card_message^
-- Where a card stands: its last message. As a subquery of `claim` this would walk a whole index.
SELECT message FROM outbox
WHERE conversation = :conversation AND card = :card AND state = 'sent' AND message IS NOT NULL
ORDER BY +row DESC
LIMIT 1;

-- name: extend^
UPDATE outbox SET lease_until = :until WHERE row = :row AND state = 'waiting' AND lease_until IS NOT NULL
RETURNING row;

-- name: retry_at^
UPDATE outbox
SET ready_at = :at, lease_until = NULL, attempts = attempts + 1, error = :error
WHERE row = :row AND state = 'waiting'
RETURNING row;

-- name: release
-- They were on their way, and nobody knows how that ended.
UPDATE outbox
SET lease_until = NULL, attempts = attempts + 1
WHERE state = 'waiting' AND lease_until IS NOT NULL
    AND replace(CAST(:platforms AS TEXT), ' ' || platform || ' ', '') <> CAST(:platforms AS TEXT)
RETURNING row;

-- name: give_up^
UPDATE outbox
SET state = 'given_up', lease_until = NULL, attempts = attempts + 1, error = :error
WHERE row = :row AND state = 'waiting'
RETURNING row;

-- name: next_due^
-- :platforms is a list of names with a space around each, or NULL for all; `replace` finds a name in it exactly, in both
-- databases. `named` as in `waiting_on`; `served`, those asked for (by an equation: of one PostgreSQL's planner expects a
-- row, and of anything else a hundred). The first of each that is free, by the order in which rows come due; of those
-- that somebody has, all: they are few.
-- CASE instead of max(a, b): PostgreSQL calls that greatest(a, b).
WITH RECURSIVE named (platform) AS (
    SELECT min(platform) FROM outbox WHERE state = 'waiting' AND behind IS NULL
    UNION ALL
    SELECT (
        SELECT min(further.platform) FROM outbox AS further
        WHERE further.state = 'waiting' AND further.behind IS NULL AND further.platform > named.platform
    )
    FROM named WHERE named.platform IS NOT NULL
),
served (platform) AS (
    SELECT platform FROM named
    WHERE platform IS NOT NULL AND 1 = CASE
        WHEN CAST(:platforms AS TEXT) IS NULL THEN 1
        WHEN replace(CAST(:platforms AS TEXT), ' ' || platform || ' ', '') <> CAST(:platforms AS TEXT) THEN 1
    END
)
SELECT min(at) AS at FROM (
    SELECT (
        SELECT waiting.ready_at FROM outbox AS waiting
        WHERE waiting.state = 'waiting' AND waiting.behind IS NULL AND waiting.platform = served.platform
            AND waiting.lease_until IS NULL
            AND waiting.row = (
                SELECT min(earlier.row) FROM outbox AS earlier
                WHERE earlier.conversation = waiting.conversation AND earlier.state = 'waiting'
            )
        ORDER BY waiting.ready_at
        LIMIT 1
    ) AS at
    FROM served
    UNION ALL
    SELECT min(CASE
        WHEN waiting.lease_until > waiting.ready_at THEN waiting.lease_until ELSE waiting.ready_at
    END) AS at
    FROM outbox AS waiting
    WHERE waiting.state = 'waiting' AND waiting.lease_until IS NOT NULL
        AND (
            CAST(:platforms AS TEXT) IS NULL
            OR replace(CAST(:platforms AS TEXT), ' ' || waiting.platform || ' ', '') <> CAST(:platforms AS TEXT)
        )
        AND waiting.row = (
            SELECT min(earlier.row) FROM outbox AS earlier
            WHERE earlier.conversation = waiting.conversation AND earlier.state = 'waiting'
        )
    UNION ALL
    SELECT min(at) AS at FROM timer WHERE lease_until IS NULL
    UNION ALL
    SELECT min(lease_until) AS at FROM timer WHERE lease_until IS NOT NULL
) AS soonest;

-- name: waiting^
SELECT count(*) AS waiting FROM outbox WHERE state = 'waiting';

-- name: posted_count^
SELECT count(*) AS posted FROM outbox WHERE kind = 'say' AND state = 'sent' AND platform = :platform;

-- name: about^
-- A message that was posted speaks for itself; one that was only redrawn is known by its card.
SELECT coalesce(about, card) AS about FROM outbox
WHERE conversation = :conversation AND message = :message
ORDER BY kind DESC, row
LIMIT 1;

-- name: shown^
-- What a message shows now. The rows of a place are sent in their order, so the last one stands.
SELECT effect FROM outbox
WHERE conversation = :conversation AND message = :message
ORDER BY row DESC
LIMIT 1;

-- name: drawings
SELECT effect FROM outbox
WHERE conversation = :conversation AND message = :message
ORDER BY row;

-- name: any_due^
-- What was to come within ten minutes of being set is not waited for where it was set beyond :jumped, under a clock that
-- has been set back since: it is due as if that time had passed. What was put further away comes when its moment comes.
SELECT 1 AS due FROM timer
WHERE at <= :now AND (lease_until IS NULL OR lease_until <= :now OR lease_until > :jumped)
UNION ALL
SELECT 1 AS due FROM timer
WHERE at - set_at BETWEEN 0 AND 600000000 AND set_at > :jumped
    AND (lease_until IS NULL OR lease_until <= :now OR lease_until > :jumped)
LIMIT 1;

-- name: claim_timers
-- The rows come in no order.
UPDATE timer
SET lease_until = :until
WHERE (conversation, name) IN (
    SELECT due.conversation, due.name FROM (
        SELECT * FROM (
            SELECT waiting.conversation, waiting.name, waiting.at FROM timer AS waiting
            WHERE waiting.at <= :now
                AND (waiting.lease_until IS NULL OR waiting.lease_until <= :now OR waiting.lease_until > :jumped)
            ORDER BY waiting.at, waiting.conversation, waiting.name
            LIMIT :limit
        ) AS ready
        UNION ALL
        SELECT * FROM (
            SELECT waiting.conversation, waiting.name, waiting.at FROM timer AS waiting
            WHERE waiting.at - waiting.set_at BETWEEN 0 AND 600000000 AND waiting.set_at > :jumped
                AND (waiting.lease_until IS NULL OR waiting.lease_until <= :now OR waiting.lease_until > :jumped)
            LIMIT :limit
        ) AS beyond
    ) AS due
    ORDER BY due.at, due.conversation, due.name
    LIMIT :limit
)
RETURNING conversation, name, at;

-- name: release_timers
UPDATE timer SET lease_until = NULL WHERE lease_until IS NOT NULL RETURNING name;

-- name: timer_at^
SELECT at FROM timer WHERE conversation = :conversation AND name = :timer;

-- name: timers
SELECT conversation, name, at FROM timer
WHERE name >= :first AND name < :beyond
ORDER BY at, conversation, name;

-- name: keep^
INSERT INTO kept (key, value) VALUES (:key, :value)
ON CONFLICT (key) DO UPDATE SET value = excluded.value
RETURNING key;

-- name: forget^
DELETE FROM kept WHERE key = :key RETURNING key;

-- name: kept
SELECT key, value FROM kept WHERE key >= :first AND key < :beyond ORDER BY key;

-- name: take_turn^
-- The moments are microseconds of twenty digits, so that they compare as text. No row: somebody else has it.
-- A turn that ends beyond :jumped was taken under a clock that has been set back since.
INSERT INTO kept (key, value) VALUES (:key, CAST(:until AS TEXT) || ' ' || CAST(:owner AS TEXT))
ON CONFLICT (key) DO UPDATE SET value = excluded.value
WHERE substr(kept.value, 1, 20) <= CAST(:now AS TEXT) OR substr(kept.value, 22) = CAST(:owner AS TEXT)
    OR substr(kept.value, 1, 20) > CAST(:jumped AS TEXT)
RETURNING key;

-- name: end_turn^
DELETE FROM kept WHERE key = :key AND substr(value, 22) = CAST(:owner AS TEXT) RETURNING key;
