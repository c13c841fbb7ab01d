// The tables, as numbered steps: each is run once on a file, in order, and never edited after it was released.

/** Marks a file as ours: "GATE" in ASCII. */
export const applicationId = 0x47415445

/*
 * A row of log_segments holds log entries that came one after the other, and later rows of a gateway hold those that came later. Bodies stand last, so that lists
 * never read them. Entries that had to make room are hidden first, and go with their segment. Its row in log_spans says how many it shows and how many it holds, the
 * first and the last time of those it shows, and the time of each, NaN for one that is hidden; NULL where none is. Its revision is drawn at random with each write. Its indexes answer which segments there are, with
 * none of their pages. A book has the counts of a gateway, and log_sums what was worked out of its entries of a time. Keys of gateways are never used again, so the entries of one that was removed can be swept later.
 *
 * In oauth_clients, due_at is when the next check of the domain is due, as the record says; ask_at is when it may be given to who asks for it: later, while another
 * one has it. oauth_grant_counts says how many OAuth grants a client has, which may be a million. A book of audit entries says how many an account has, and one of an actor how many of those are of one who asked. Times that are computed may have
 * fractions.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE gateways (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX gateways_by_id ON gateways (account, id);
  CREATE INDEX gateways_by_creation ON gateways (account, created_at, id);

  CREATE TABLE tokens (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX tokens_by_id ON tokens (account, id);
  CREATE INDEX tokens_by_creation ON tokens (account, created_at, id);
  CREATE UNIQUE INDEX tokens_by_digest ON tokens (record ->> 'digest');

  CREATE TABLE changes (
    version INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    account TEXT NOT NULL,
    id TEXT NOT NULL
  ) STRICT;

  CREATE TABLE log_books (
    gateway INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    hidden INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE log_segments (
    key INTEGER PRIMARY KEY,
    gateway INTEGER NOT NULL,
    count INTEGER NOT NULL,
    earliest REAL NOT NULL,
    latest REAL NOT NULL,
    ids BLOB NOT NULL,
    heads BLOB NOT NULL,
    payloads BLOB NOT NULL
  ) STRICT;
  CREATE INDEX log_segments_of_gateway ON log_segments (gateway, key, count, earliest, latest);
  `,
  `
  CREATE TABLE oauth_clients (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL,
    due_at REAL,
    ask_at REAL
  ) STRICT;
  CREATE UNIQUE INDEX oauth_clients_by_id ON oauth_clients (account, id);
  CREATE INDEX oauth_clients_by_creation ON oauth_clients (account, created_at, id);
  CREATE INDEX oauth_clients_to_ask ON oauth_clients (ask_at) WHERE ask_at IS NOT NULL;

  CREATE TABLE kept_answers (
    key INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    sealed TEXT NOT NULL,
    expires_at REAL NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX kept_answers_by_name ON kept_answers (account, name);
  CREATE INDEX kept_answers_by_end ON kept_answers (expires_at);

  CREATE TABLE audit_books (
    account TEXT PRIMARY KEY,
    count INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE audit_entries (
    key INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    at REAL NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX audit_entries_by_id ON audit_entries (account, id);
  CREATE INDEX audit_entries_by_time ON audit_entries (account, at, id);
  `,
  `
  CREATE TABLE error_rule_lists (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX error_rule_lists_by_id ON error_rule_lists (account, id);
  CREATE INDEX error_rule_lists_by_creation ON error_rule_lists (account, created_at, id);

  CREATE TABLE access_rule_lists (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX access_rule_lists_by_id ON access_rule_lists (account, id);
  CREATE INDEX access_rule_lists_by_creation ON access_rule_lists (account, created_at, id);

  CREATE TABLE error_pages (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX error_pages_by_id ON error_pages (account, id);
  CREATE INDEX error_pages_by_creation ON error_pages (account, created_at, id);
  `,
  `
  ALTER TABLE audit_entries ADD COLUMN actor TEXT NOT NULL DEFAULT '';
  UPDATE audit_entries SET actor = coalesce(record ->> 'actor', '');
  CREATE INDEX audit_entries_by_actor ON audit_entries (account, actor, at, id);

  CREATE TABLE audit_actors (
    account TEXT NOT NULL,
    actor TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (account, actor)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO audit_actors (account, actor, count)
    SELECT account, actor, count(*) FROM audit_entries GROUP BY account, actor;
  `,
  // What was hidden of a first segment is shown again, until the next entry comes.
  `
  CREATE TABLE log_spans (
    segment INTEGER PRIMARY KEY,
    gateway INTEGER NOT NULL,
    count INTEGER NOT NULL,
    held INTEGER NOT NULL,
    earliest REAL NOT NULL,
    latest REAL NOT NULL,
    times BLOB
  ) STRICT;
  INSERT INTO log_spans (segment, gateway, count, held, earliest, latest)
    SELECT key, gateway, count, count, earliest, latest FROM log_segments;
  CREATE INDEX log_spans_of_gateway ON log_spans (gateway, segment, count, earliest, latest);
  CREATE INDEX log_spans_by_earliest ON log_spans (gateway, earliest);
  CREATE INDEX log_spans_by_latest ON log_spans (gateway, latest);
  UPDATE log_books SET count = count + hidden;
  ALTER TABLE log_books DROP COLUMN hidden;
  ALTER TABLE log_books ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
  UPDATE log_books SET held = count;
  `,
  `
  ALTER TABLE accounts ADD COLUMN enforce_two_factor INTEGER NOT NULL DEFAULT 0;

  CREATE TABLE users (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX users_by_id ON users (account, id);
  CREATE INDEX users_by_creation ON users (account, created_at, id);
  CREATE UNIQUE INDEX users_by_email ON users (record ->> 'email');
  CREATE UNIQUE INDEX users_by_identity ON users (record ->> '$.identity.issuer', record ->> '$.identity.subject');

  CREATE TABLE members (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX members_by_id ON members (account, id);
  CREATE INDEX members_by_creation ON members (account, created_at, id);
  CREATE UNIQUE INDEX members_by_user ON members (record ->> 'user', account);
  CREATE INDEX members_super ON members (account) WHERE record ->> 'isSuper' = 1 AND record ->> 'status' = 'accepted';

  CREATE TABLE oauth_grants (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX oauth_grants_by_id ON oauth_grants (account, id);
  CREATE INDEX oauth_grants_by_creation ON oauth_grants (account, created_at, id);
  CREATE UNIQUE INDEX oauth_grants_by_parties ON oauth_grants (record ->> 'user', record ->> 'client', account);
  CREATE INDEX oauth_grants_of_user ON oauth_grants (record ->> 'user', created_at, id);
  CREATE INDEX oauth_grants_of_client ON oauth_grants (record ->> 'client', created_at, id);

  CREATE TABLE signing_keys (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX signing_keys_by_id ON signing_keys (account, id);
  CREATE INDEX signing_keys_by_creation ON signing_keys (account, created_at, id);
  `,
  `
  ALTER TABLE tokens ADD COLUMN last_used_at REAL;
  `,
  // A search reads no record but those that it shows.
  `
  CREATE INDEX oauth_clients_by_name ON oauth_clients
    (account, created_at, id, record ->> 'name', record ->> 'visibility');
  `,
  `
  CREATE INDEX members_of_user ON members (record ->> 'user', created_at, id);
  `,
  `
  CREATE TABLE log_sums (
    key INTEGER PRIMARY KEY,
    gateway INTEGER NOT NULL,
    width INTEGER NOT NULL,
    since INTEGER NOT NULL,
    mark TEXT NOT NULL,
    sums TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX log_sums_by_window ON log_sums (gateway, width, since);
  `,
  `
  CREATE TABLE acme_accounts (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX acme_accounts_by_id ON acme_accounts (account, id);
  CREATE INDEX acme_accounts_by_creation ON acme_accounts (account, created_at, id);

  CREATE TABLE certificates (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX certificates_by_id ON certificates (account, id);
  CREATE INDEX certificates_by_creation ON certificates (account, created_at, id);
  `,
  `
  CREATE TABLE ticket_keys (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX ticket_keys_by_id ON ticket_keys (account, id);
  CREATE INDEX ticket_keys_by_creation ON ticket_keys (account, created_at, id);
  `,
  `
  CREATE TABLE token_keys (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX token_keys_by_id ON token_keys (account, id);
  CREATE INDEX token_keys_by_creation ON token_keys (account, created_at, id);
  `,
  `
  CREATE TABLE oauth_grant_counts (
    client TEXT PRIMARY KEY,
    count INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO oauth_grant_counts (client, count)
    SELECT record ->> 'client' AS client, count(*) FROM oauth_grants GROUP BY client;
  CREATE TRIGGER oauth_grant_counted AFTER INSERT ON oauth_grants BEGIN
    INSERT INTO oauth_grant_counts (client, count)
      SELECT new.record ->> 'client', 0
      WHERE NOT EXISTS (SELECT 1 FROM oauth_grant_counts WHERE client = new.record ->> 'client');
    UPDATE oauth_grant_counts SET count = count + 1 WHERE client = new.record ->> 'client';
  END;
  CREATE TRIGGER oauth_grant_discounted AFTER DELETE ON oauth_grants BEGIN
    UPDATE oauth_grant_counts SET count = count - 1 WHERE client = old.record ->> 'client';
    DELETE FROM oauth_grant_counts WHERE client = old.record ->> 'client' AND count = 0;
  END;
  `,
  'ALTER TABLE log_spans ADD COLUMN revision INTEGER NOT NULL DEFAULT 0',
  // Grants from before redirect hosts were kept stand beside those that are found.
  `
  DROP INDEX oauth_grants_by_parties;
  CREATE UNIQUE INDEX oauth_grants_by_parties ON oauth_grants
    (record ->> 'user', record ->> 'client', account, record ->> 'resource')
    WHERE record ->> 'redirectHosts' IS NOT NULL;
  `,
  `
  CREATE TABLE identity (id TEXT NOT NULL) STRICT;
  INSERT INTO identity (id) VALUES (lower(hex(randomblob(16))));
  `,
  `
  CREATE TABLE store_notes (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX store_notes_by_id ON store_notes (account, id);
  CREATE INDEX store_notes_by_creation ON store_notes (account, created_at, id);
  `,
]

/*
 * What stands in the file beside that comes and goes often, in rows that are found by what is random: whatever is written touches pages all over it. The consent of a
 * credential is the id of an OAuth grant. Authorization events of a client are numbered as they came.
 */
export const credentialMigrations: readonly string[] = [
  `
  CREATE TABLE changes (
    version INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    account TEXT NOT NULL,
    id TEXT NOT NULL
  ) STRICT;

  CREATE TABLE credentials (
    key INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    digest BLOB NOT NULL,
    user TEXT,
    client TEXT,
    consent TEXT,
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    consumed_at REAL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX credentials_by_digest ON credentials (digest, kind);
  CREATE INDEX credentials_of_user ON credentials (user, kind, expires_at) WHERE user IS NOT NULL;
  CREATE INDEX credentials_of_client ON credentials (client, kind, expires_at) WHERE client IS NOT NULL;
  CREATE INDEX credentials_of_consent ON credentials (consent, kind, expires_at) WHERE consent IS NOT NULL;
  CREATE INDEX credentials_by_end ON credentials (expires_at);

  CREATE TABLE authorization_events (
    client TEXT NOT NULL,
    number INTEGER NOT NULL,
    at REAL NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (client, number)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX authorization_events_by_time ON authorization_events (at);
  `,
  `
  CREATE INDEX authorization_events_of_user ON authorization_events (client, record ->> 'user', record ->> 'result', number)
    WHERE record ->> 'user' IS NOT NULL;
  `,
]

/**
 * For a file of small rows that are found by what is random: a commit writes whole pages. The commit that finds so many in the write-ahead log waits for the disk:
 * 16 MB, so that it is seldom.
 */
export const smallPages = 'PRAGMA page_size = 4096; PRAGMA wal_autocheckpoint = 4000;'
