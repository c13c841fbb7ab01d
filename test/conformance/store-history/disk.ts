// The disk of a Redis: a small file system in memory, which can fill up and forget what was not synced.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const mebibytes = 64

export class Disk {
  readonly folder: string

  constructor(what: string) {
    this.folder = mkdtempSync(join(tmpdir(), `gatehouse-${what}-`))
    const options = `size=${mebibytes}m,mode=700`
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', this.folder])
  }

  /** Leaves no byte free. */
  fill(): void {
    for (let i = 0, size = 2 ** 20; size >= 1; ) {
      try {
        writeFileSync(join(this.folder, `filler-${i++}`), Buffer.alloc(size))
      } catch {
        size = Math.floor(size / 16)
      }
    }
  }

  free(): void {
    for (const name of readdirSync(this.folder))
      if (name.startsWith('filler-')) rmSync(join(this.folder, name))
  }

  /** The files that a Redis appends to, with how long they are. */
  lengths(): ReadonlyMap<string, number> {
    const folder = join(this.folder, 'appendonlydir')
    const names = readdirSync(folder).filter(name => name.endsWith('.incr.aof'))
    return new Map(names.map(name => [join(folder, name), statSync(join(folder, name)).size]))
  }

  /** Loses all that was appended since the files had these lengths. */
  forget(lengths: ReadonlyMap<string, number>): void {
    const now = this.lengths()
    for (const [file, length] of lengths) if (now.has(file)) truncateSync(file, length)
  }

  end(): void {
    execFileSync('umount', ['--lazy', this.folder])
    rmdirSync(this.folder)
  }
}
