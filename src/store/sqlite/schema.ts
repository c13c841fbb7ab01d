// The tables, as numbered steps: each is run once on a file, in order, and never edited after it was released.

/** Marks a file as ours: "GATE" in ASCII. */
export const applicationId = 0x47415445

/*
 * A row of log_segments holds log entries that came one after the other, and later rows of a gateway hold later ones. Bodies stand last, so that lists never
 * read them. The index answers which segments there are, with none of their pages. A book says how many entries a gateway has, less those that were hidden at the
 * beginning of its first segment to make room. Keys of gateways are never used again, so the entries of one that was removed can be swept later.
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
]
