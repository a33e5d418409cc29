CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL,
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

CREATE TABLE conversation (
	id TEXT NOT NULL,
	revision INTEGER NOT NULL CONSTRAINT revision_counts CHECK (revision > 0),
	state TEXT NOT NULL,
	PRIMARY KEY (id)
)
 STRICT;

CREATE TABLE event (
	event_id TEXT NOT NULL,
	conversation TEXT NOT NULL,
	revision INTEGER NOT NULL,
	at INTEGER NOT NULL,
	platform_at INTEGER,
	kind TEXT NOT NULL,
	envelope TEXT NOT NULL,
	outcome TEXT NOT NULL CONSTRAINT outcome_known CHECK (outcome IN ('accepted', 'ignored', 'refused')),
	reason TEXT,
	PRIMARY KEY (event_id),
	CONSTRAINT event_order UNIQUE (conversation, revision),
	FOREIGN KEY(conversation) REFERENCES conversation (id)
)
 STRICT;

CREATE TABLE session (
	session TEXT NOT NULL,
	conversation TEXT NOT NULL,
	workflow TEXT,
	state TEXT NOT NULL,
	requester TEXT NOT NULL,
	request TEXT NOT NULL,
	started_at INTEGER NOT NULL,
	ended_at INTEGER,
	result TEXT,
	PRIMARY KEY (session)
)
 STRICT;

CREATE INDEX session_conversation ON session (conversation);

CREATE INDEX session_newest ON session (started_at, session);

CREATE TABLE clarification (
	id TEXT NOT NULL,
	phase INTEGER,
	round INTEGER NOT NULL,
	"trigger" TEXT NOT NULL,
	topic TEXT NOT NULL,
	why_it_matters TEXT NOT NULL,
	options TEXT NOT NULL,
	recommendation_rationale TEXT,
	chosen TEXT,
	chosen_at INTEGER NOT NULL,
	chosen_via TEXT NOT NULL CONSTRAINT chosen_via_legal CHECK (chosen_via IN ('user_response', 'accept_recommendations_bulk')),
	user_message_ref TEXT NOT NULL CONSTRAINT user_message_ref_filled CHECK (user_message_ref <> ''),
	user_note TEXT,
	chosen_text TEXT,
	answered_by TEXT NOT NULL CONSTRAINT answered_by_filled CHECK (answered_by <> ''),
	surface TEXT NOT NULL,
	protocol TEXT NOT NULL,
	session TEXT NOT NULL,
	revision INTEGER NOT NULL CONSTRAINT revision_counts CHECK (revision > 0),
	question TEXT NOT NULL,
	platform_at INTEGER,
	PRIMARY KEY (session, id)
)
 STRICT;

CREATE TABLE clarification_history (
	id TEXT NOT NULL,
	phase INTEGER,
	round INTEGER NOT NULL,
	"trigger" TEXT NOT NULL,
	topic TEXT NOT NULL,
	why_it_matters TEXT NOT NULL,
	options TEXT NOT NULL,
	recommendation_rationale TEXT,
	chosen TEXT,
	chosen_at INTEGER NOT NULL,
	chosen_via TEXT NOT NULL CONSTRAINT chosen_via_legal CHECK (chosen_via IN ('user_response', 'accept_recommendations_bulk')),
	user_message_ref TEXT NOT NULL CONSTRAINT user_message_ref_filled CHECK (user_message_ref <> ''),
	user_note TEXT,
	chosen_text TEXT,
	answered_by TEXT NOT NULL CONSTRAINT answered_by_filled CHECK (answered_by <> ''),
	surface TEXT NOT NULL,
	protocol TEXT NOT NULL,
	session TEXT NOT NULL,
	revision INTEGER NOT NULL CONSTRAINT revision_counts CHECK (revision > 0),
	question TEXT NOT NULL,
	platform_at INTEGER,
	PRIMARY KEY (session, id, revision)
)
 STRICT;

CREATE TABLE audit (
	id INTEGER NOT NULL,
	chain TEXT NOT NULL,
	seq INTEGER NOT NULL CONSTRAINT seq_counts CHECK (seq > 0),
	at INTEGER NOT NULL,
	event TEXT NOT NULL,
	phase INTEGER,
	actor TEXT NOT NULL,
	details TEXT,
	details_hash TEXT NOT NULL,
	prev_hash TEXT NOT NULL,
	hash TEXT NOT NULL,
	PRIMARY KEY (id),
	CONSTRAINT audit_order UNIQUE (chain, seq)
)
 STRICT;

CREATE TABLE audit_head (
	chain TEXT NOT NULL,
	seq INTEGER NOT NULL,
	hash TEXT NOT NULL,
	PRIMARY KEY (chain)
)
 STRICT;

CREATE TABLE outbox (
	"row" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	conversation TEXT NOT NULL,
	platform TEXT NOT NULL,
	kind TEXT NOT NULL CONSTRAINT kind_known CHECK (kind IN ('say', 'redraw')),
	card TEXT,
	about TEXT,
	effect TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	ready_at INTEGER NOT NULL,
	lease_until INTEGER,
	attempts INTEGER DEFAULT 0 NOT NULL,
	state TEXT DEFAULT 'waiting' NOT NULL CONSTRAINT state_known CHECK (state IN ('waiting', 'sent', 'given_up', 'superseded')),
	message TEXT,
	message_order INTEGER,
	error TEXT
, behind INTEGER)
 STRICT;

CREATE INDEX outbox_waiting ON outbox (conversation, "row") WHERE state = 'waiting';

CREATE INDEX outbox_message ON outbox (conversation, message) WHERE message IS NOT NULL;

CREATE INDEX outbox_card ON outbox (conversation, card) WHERE card IS NOT NULL;

CREATE TABLE kept (
	"key" TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY ("key")
)
 STRICT;

CREATE TABLE "timer" (
	conversation TEXT NOT NULL,
	name TEXT NOT NULL,
	at INTEGER NOT NULL,
	lease_until INTEGER, set_at INTEGER,
	PRIMARY KEY (conversation, name)
)
 STRICT;

CREATE INDEX timer_at ON timer (at);

CREATE INDEX timer_taken ON timer (lease_until) WHERE lease_until IS NOT NULL;

CREATE INDEX session_asking ON session (conversation, started_at) WHERE state IN ('asking', 'closing');

CREATE INDEX session_asking_newest ON session (started_at, conversation) WHERE state IN ('asking', 'closing');

CREATE INDEX session_open ON session (conversation) WHERE ended_at IS NULL;

CREATE INDEX timer_name ON timer (name);

CREATE INDEX outbox_posted ON outbox (platform, kind, state) WHERE kind = 'say' AND state = 'sent';

CREATE INDEX outbox_taken ON outbox (lease_until) WHERE state = 'waiting' AND lease_until IS NOT NULL;

CREATE INDEX outbox_behind ON outbox (behind) WHERE behind IS NOT NULL;

CREATE INDEX timer_soon ON timer (set_at) WHERE at - set_at BETWEEN 0 AND 600000000;

CREATE TRIGGER outbox_left AFTER UPDATE OF state ON outbox WHEN OLD.state = 'waiting'
BEGIN UPDATE outbox SET behind = NULL WHERE behind = OLD.row; END;

CREATE TRIGGER outbox_removed AFTER DELETE ON outbox WHEN OLD.state = 'waiting'
BEGIN UPDATE outbox SET behind = NULL WHERE behind = OLD.row; END;

CREATE INDEX outbox_due ON outbox (platform, ready_at, "row", conversation, lease_until) WHERE state = 'waiting' AND behind IS NULL;
