// Checks whether the files of an open database are still those at its path: what is written to a file that
// was removed or replaced is lost with the process.

import { statSync } from 'node:fs'

/**
 * The database itself, its write-ahead log, and the index of that log. All of them exist while a connection
 * is open.
 */
const suffixes = ['', '-wal', '-shm'] as const

interface OpenFile {
  readonly path: string
  readonly identity: string
}

export class OpenFiles {
  readonly #files: readonly OpenFile[]
  readonly #hadContent: boolean
  /** Stays true: pages that are moved to the database later do not restore what was lost. */
  #wasEmptied = false

  /** Remembers the files of a database that is open and has been read; throws if one of them is missing. */
  constructor(path: string) {
    this.#files = suffixes.map(suffix => {
      const file = `${path}${suffix}`
      return { path: file, identity: identityOf(file) }
    })
    this.#hadContent = statSync(path).size > 0
  }

  get identity(): string {
    return this.#files.map(({ identity }) => identity).join(' ')
  }

  /** Returns a clause about the first file that is no longer at its path; null if all are. */
  difference(): string | null {
    for (const { path, identity } of this.#files) {
      try {
        if (identityOf(path) !== identity) return `${path} was replaced while it was open`
      } catch (cause) {
        const { code } = cause as NodeJS.ErrnoException
        if (code === 'ENOENT' || code === 'ENOTDIR') return `${path} was removed while it was open`
        return `${path} cannot be looked at (${code})`
      }
    }
    const { path } = this.#files[0]!
    // SQLite never empties it. The log has only what was not moved yet, and the next start ignores that for
    // an empty database.
    this.#wasEmptied ||= this.#hadContent && statSync(path, { throwIfNoEntry: false })?.size === 0
    return this.#wasEmptied ? `${path} was emptied while it was open` : null
  }

  /** Whether only the log is missing, so that its contents can still be moved to the database. */
  get hasLostLog(): boolean {
    const [database, log] = this.#files
    try {
      return (
        identityOf(database!.path) === database!.identity &&
        statSync(log!.path, { throwIfNoEntry: false }) === undefined
      )
    } catch {
      return false
    }
  }
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true })
  return `${dev}:${ino}`
}
