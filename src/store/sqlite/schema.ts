// The tables, as numbered steps: each is run once on a file, in order, and never edited after it was released.

/** Marks a file as ours: "GATE" in ASCII. */
export const applicationId = 0x47415445

/*
 * A log entry's key is made of the key of its gateway and its number there, (gateway << 40) + number: all entries of a gateway lie together in the order in
 * which they came, with no index to keep. Keys of gateways are never used again, so the entries of one that was removed can be swept later. Bodies stand apart,
 * so that lists read little. A row of log_ids holds the ids that were appended together, each behind a space, at the key of the first.
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
    next INTEGER NOT NULL,
    count INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE logs (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    created_at REAL NOT NULL,
    provider TEXT NOT NULL,
    model TEXT,
    path TEXT NOT NULL,
    status INTEGER NOT NULL,
    success INTEGER NOT NULL,
    error TEXT,
    duration REAL NOT NULL,
    time_to_first_byte REAL,
    tokens_in REAL,
    tokens_out REAL,
    cost REAL,
    cached INTEGER NOT NULL,
    authenticated INTEGER NOT NULL,
    streamed INTEGER NOT NULL,
    metadata TEXT,
    request_content_type TEXT,
    response_content_type TEXT
  ) STRICT;

  CREATE TABLE log_payloads (
    key INTEGER PRIMARY KEY,
    request TEXT,
    request_is_cut INTEGER NOT NULL,
    response TEXT,
    response_is_cut INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE log_ids (
    key INTEGER PRIMARY KEY,
    ids TEXT NOT NULL
  ) STRICT;
  `,
]
