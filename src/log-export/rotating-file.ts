// A file of lines that is rotated by size and age. It is opened for each batch: others may move it.

import { closeSync, constants, fdatasyncSync, fstatSync, ftruncateSync, openSync, readdirSync } from 'node:fs'
import { readSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { basename, dirname, join, parse } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { FileDestination } from '../config/model/log-export-config.ts'
import type { DeliveryFailure, Destination } from './destination.ts'
import type { Batch } from './outbox.ts'

export class RotatingFile implements Destination {
  readonly #config: FileDestination
  readonly #now: () => number
  /** Whether the end of the file is known to be that of a line. */
  #isWhole = false

  constructor(config: FileDestination, now: () => number) {
    this.#config = config
    this.#now = now
  }

  async deliver({ content }: Batch): Promise<DeliveryFailure | null> {
    const { path, maxSize } = this.#config
    const lines = gunzipSync(content)
    try {
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      if (size > 0 && size + lines.length > maxSize) this.#rotate(this.#now())
      this.#append(lines)
      return null
    } catch (failure) {
      const { message } = failure as Error
      return { kind: 'disk', message, isPermanent: false, retryAfter: 0 }
    }
  }

  tick(now: number): void {
    const { path, maxAge } = this.#config
    if (maxAge === 0) return
    const file = statSync(path, { throwIfNoEntry: false })
    if (file !== undefined && file.size > 0 && now - bornAt(file) >= maxAge) this.#rotate(now)
  }

  close(): void {}

  #append(lines: Buffer): void {
    const fd = openSync(this.#config.path, flags, 0o600)
    try {
      // A pipe takes lines, but not the calls that make sure of them: each would be sent again and again.
      if (!fstatSync(fd).isFile()) throw new Error(`${this.#config.path} is not a regular file`)
      if (!this.#isWhole) cutHalfLine(fd)
      const { size } = fstatSync(fd)
      try {
        for (let at = 0; at < lines.length; ) at += writeSync(fd, lines, at)
        fdatasyncSync(fd)
        this.#isWhole = true
      } catch (failure) {
        this.#isWhole = false
        ftruncateSync(fd, size)
        throw failure
      }
    } finally {
      closeSync(fd)
    }
  }

  #rotate(now: number): void {
    const { path, keep } = this.#config
    const { dir, name, ext } = parse(path)
    renameSync(path, join(dir, `${name}-${new Date(now).toISOString().replaceAll(':', '-')}${ext}`))
    if (keep === 0) return
    const rotated = readdirSync(dirname(path)).filter(file => isRotated(file, path))
    for (const file of rotated.sort().slice(0, -keep)) rmSync(join(dir, file), { force: true })
  }
}

/** Without waiting for the reader of a pipe. */
const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK

function isRotated(file: string, path: string): boolean {
  const { name, ext } = parse(basename(path))
  const isOurs = file.startsWith(`${name}-`) && file.endsWith(ext)
  return isOurs && time.test(file.slice(name.length + 1, file.length - ext.length))
}

const time = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/

/** Some file systems do not know when a file was made. */
function bornAt({
  birthtimeMs,
  mtimeMs,
}: {
  readonly birthtimeMs: number
  readonly mtimeMs: number
}): number {
  return birthtimeMs > 0 ? birthtimeMs : mtimeMs
}

/** Removes the beginning of a line that an interrupted write left at the end. */
function cutHalfLine(fd: number): void {
  const piece = Buffer.alloc(64 * 1024)
  const { size } = fstatSync(fd)
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - piece.length)
    const read = readSync(fd, piece, 0, end - start, start)
    const last = piece.subarray(0, read).lastIndexOf(0x0a)
    if (last === -1) end = start
    else return start + last + 1 < size ? ftruncateSync(fd, start + last + 1) : undefined
  }
  if (size > 0) ftruncateSync(fd, 0)
}
