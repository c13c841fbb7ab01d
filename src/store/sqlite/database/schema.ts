// The tables, as numbered steps: each is run once on a file, in order. A step is frozen with the release that
// has it, the first ones with 0.1.0.

/** Identifies a Gatehouse file: "GATE" in ASCII. */
export const applicationId = 0x47415445

/** Returns the SQL of a table of records that belong to accounts, or to other owners. */
function recordTable(name: string, columns = ''): string {
  return `
  CREATE TABLE ${name} (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL${columns}
  ) STRICT;
  CREATE UNIQUE INDEX ${name}_by_id ON ${name} (account, id);
  CREATE INDEX ${name}_by_creation ON ${name} (account, created_at, id);
  `
}

/** Makes a table whose owners are `account/gateway`: none of its records is without its gateway. */
function tableOfGateways(name: string): string {
  return `
  ${recordTable(name)}
  CREATE TRIGGER ${name}_without_gateway BEFORE INSERT ON ${name}
    WHEN NOT EXISTS (
      SELECT 1 FROM gateways WHERE account = substr(new.account, 1, 32) AND id = substr(new.account, 34)
    )
  BEGIN
    SELECT RAISE(IGNORE);
  END;
  CREATE TRIGGER ${name}_of_removed_gateway AFTER DELETE ON gateways BEGIN
    DELETE FROM ${name} WHERE account = old.account || '/' || old.id;
  END;
  `
}

const people = `
  CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    enforce_two_factor INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;

  ${recordTable('users')}
  CREATE UNIQUE INDEX users_by_email ON users (record ->> 'email');
  CREATE UNIQUE INDEX users_by_identity ON users (record ->> '$.identity.issuer', record ->> '$.identity.subject');

  ${recordTable('members')}
  CREATE UNIQUE INDEX members_by_user ON members (record ->> 'user', account);
  CREATE INDEX members_of_user ON members (record ->> 'user', created_at, id);
  CREATE INDEX members_super ON members (account) WHERE record ->> 'isSuper' = 1 AND record ->> 'status' = 'accepted';
  `

/*
 * `due_at` is when the next check of the domain is due, `ask_at` when it may be handed out: later, while a
 * gateway works on it. Grants are counted as they change: a client may have a million. Those without redirect
 * hosts are never found again.
 */
const oauth = `
  ${recordTable('oauth_clients', ',\n    due_at REAL,\n    ask_at REAL')}
  CREATE INDEX oauth_clients_to_ask ON oauth_clients (ask_at) WHERE ask_at IS NOT NULL;
  CREATE INDEX oauth_clients_by_name ON oauth_clients
    (account, created_at, id, record ->> 'name', record ->> 'visibility');

  ${recordTable('oauth_grants')}
  CREATE UNIQUE INDEX oauth_grants_by_parties ON oauth_grants
    (record ->> 'user', record ->> 'client', account, record ->> 'resource')
    WHERE record ->> 'redirectHosts' IS NOT NULL;
  CREATE INDEX oauth_grants_of_user ON oauth_grants (record ->> 'user', created_at, id);
  CREATE INDEX oauth_grants_of_client ON oauth_grants (record ->> 'client', created_at, id);

  CREATE TABLE oauth_grant_counts (
    client TEXT PRIMARY KEY,
    count INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
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
  `

/*
 * log_entries has rows as `rowOf` writes them, log_bodies the bodies, so that lists never read them; a later
 * step changes how.
 * log_counts counts the entries of each gateway, log_windows those of each minute, hour and day, with a
 * mark that is random at each change; log_sums has the sums of unchanged windows. Keys of gateways are
 * never reused, so the entries of a removed one can be swept later.
 */
const logs = `
  CREATE TABLE log_entries (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    gateway INTEGER NOT NULL,
    at REAL NOT NULL,
    id TEXT NOT NULL,
    row TEXT NOT NULL
  ) STRICT;
  CREATE INDEX log_entries_of_gateway ON log_entries (gateway);
  CREATE INDEX log_entries_by_time ON log_entries (gateway, at, id);

  CREATE TABLE log_bodies (
    key INTEGER PRIMARY KEY,
    bodies BLOB NOT NULL,
    request INTEGER NOT NULL,
    response INTEGER NOT NULL,
    provider_response INTEGER NOT NULL
  ) STRICT;
  CREATE TRIGGER log_bodies_removed AFTER DELETE ON log_entries BEGIN
    DELETE FROM log_bodies WHERE key = old.key;
  END;

  CREATE TABLE log_counts (
    gateway INTEGER PRIMARY KEY,
    count INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE log_windows (
    gateway INTEGER NOT NULL,
    width INTEGER NOT NULL,
    since INTEGER NOT NULL,
    count INTEGER NOT NULL,
    mark INTEGER NOT NULL,
    PRIMARY KEY (gateway, width, since)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE log_sums (
    key INTEGER PRIMARY KEY,
    gateway INTEGER NOT NULL,
    width INTEGER NOT NULL,
    since INTEGER NOT NULL,
    sums TEXT NOT NULL,
    UNIQUE (gateway, width, since)
  ) STRICT;
  CREATE TRIGGER log_sums_outdated AFTER UPDATE ON log_windows BEGIN
    DELETE FROM log_sums WHERE gateway = old.gateway AND width = old.width AND since = old.since;
  END;
  CREATE TRIGGER log_sums_removed AFTER DELETE ON log_windows BEGIN
    DELETE FROM log_sums WHERE gateway = old.gateway AND width = old.width AND since = old.since;
  END;
  `

/* audit_books counts the entries of an account, audit_actors of an actor. Times may have fractions. */
const audit = `
  CREATE TABLE audit_books (
    account TEXT PRIMARY KEY,
    count INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE audit_entries (
    key INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    at REAL NOT NULL,
    record TEXT NOT NULL,
    actor TEXT NOT NULL DEFAULT ''
  ) STRICT;
  CREATE UNIQUE INDEX audit_entries_by_id ON audit_entries (account, id);
  CREATE INDEX audit_entries_by_time ON audit_entries (account, at, id);
  CREATE INDEX audit_entries_by_actor ON audit_entries (account, actor, at, id);

  CREATE TABLE audit_actors (
    account TEXT NOT NULL,
    actor TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (account, actor)
  ) STRICT, WITHOUT ROWID;
  `

const modelRoutes = `
  ${tableOfGateways('model_routes')}
  CREATE UNIQUE INDEX model_routes_by_name ON model_routes (account, record ->> 'name');
  `

/*
 * log_bodies has the bodies of batches, at the key of the first entry; the others have the next keys. The
 * oldest entries are removed by ranges of keys.
 */
const logBatches = `
  DROP INDEX log_entries_of_gateway;
  DROP TRIGGER log_bodies_removed;
  ALTER TABLE log_bodies RENAME TO bodies_of_entries;
  CREATE TABLE log_bodies (
    key INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    layout TEXT NOT NULL,
    bodies BLOB NOT NULL
  ) STRICT;
  INSERT INTO log_bodies
    SELECT key, 1, json_array(request, response, provider_response), bodies FROM bodies_of_entries;
  DROP TABLE bodies_of_entries;
  `

export const migrations: readonly string[] = [
  `
  CREATE TABLE identity (id TEXT NOT NULL) STRICT;
  INSERT INTO identity (id) VALUES (lower(hex(randomblob(16))));

  CREATE TABLE changes (
    version INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    account TEXT NOT NULL,
    id TEXT NOT NULL
  ) STRICT;

  CREATE TABLE stored_responses (
    key INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    sealed TEXT NOT NULL,
    expires_at REAL NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX stored_responses_by_name ON stored_responses (account, name);
  CREATE INDEX stored_responses_by_end ON stored_responses (expires_at);

  ${recordTable('gateways')}
  ${recordTable('tokens', ',\n    last_used_at REAL')}
  CREATE UNIQUE INDEX tokens_by_digest ON tokens (record ->> 'digest');
  ${['error_rule_lists', 'access_rule_lists', 'error_pages'].map(name => recordTable(name)).join('')}
  ${['signing_keys', 'ticket_keys', 'token_keys', 'store_notes'].map(name => recordTable(name)).join('')}
  ${['acme_accounts', 'certificates'].map(name => recordTable(name)).join('')}
  ${people}
  ${oauth}
  ${audit}
  ${logs}
  `,
  modelRoutes,
  logBatches,
  recordTable('custom_providers'),
  tableOfGateways('policy_sets'),
  tableOfGateways('budget_alert_sets'),
  'ALTER TABLE accounts ADD COLUMN allow_document_clients INTEGER NOT NULL DEFAULT 0',
]

/* A row for each bucket of an account, as `store/budget-ledger` has it. */
const budgets = `
  CREATE TABLE budgets (
    key INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    bucket TEXT NOT NULL,
    ends_at REAL NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX budgets_by_bucket ON budgets (account, bucket);
  CREATE INDEX budgets_by_end ON budgets (ends_at);
  `

/* A row for each call that must not run twice, and how many each account has. */
const claims = `
  CREATE TABLE claims (
    key INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    gateway TEXT NOT NULL,
    name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    holder TEXT NOT NULL,
    leased_until REAL NOT NULL,
    is_done INTEGER NOT NULL,
    expires_at REAL NOT NULL,
    note TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX claims_by_name ON claims (account, gateway, name);
  CREATE INDEX claims_by_end ON claims (expires_at);
  CREATE TABLE claim_counts (account TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `

/* Whose calls they are, and how many each has; without an owner, how many the account has. */
const claimOwners = `
  ALTER TABLE claims ADD COLUMN owner TEXT NOT NULL DEFAULT '';
  CREATE INDEX claims_of_owner ON claims (account, owner, expires_at);
  CREATE TABLE claim_sums (account TEXT NOT NULL, owner TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (account, owner))
    STRICT, WITHOUT ROWID;
  INSERT INTO claim_sums SELECT account, '', COUNT(*) FROM claims GROUP BY account;
  DROP TABLE claim_counts;
  CREATE INDEX claims_of_account ON claims (account, expires_at);
  `

/*
 * The second file has what changes often, in rows with random keys: each write touches pages all over it. The
 * consent of a credential is the id of an OAuth grant. Authorization events are numbered by arrival.
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
  CREATE INDEX authorization_events_of_user ON authorization_events (client, record ->> 'user', record ->> 'result', number)
    WHERE record ->> 'user' IS NOT NULL;
  `,
  budgets,
  claims,
  claimOwners,
]

/**
 * For a file of small rows at random positions, where a commit writes whole pages. The commit that finds this
 * many pages in the write-ahead log waits for the disk: 16 MB, so that it is rare.
 */
export const smallPages = 'PRAGMA page_size = 4096; PRAGMA wal_autocheckpoint = 4000;'
