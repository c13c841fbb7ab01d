// Triggers a reload of the configuration: when its files change, or on demand.

import { type FSWatcher, readlinkSync, statSync, watch } from 'node:fs'
import { basename, isAbsolute, join, sep } from 'node:path'

export interface WatchOptions {
  /** How long files must be unchanged before a reload, in ms. */
  readonly settle?: number
  /** Called for a directory that cannot be watched, and for a reload that threw. */
  readonly failed?: (error: Error) => void
}

/** Calls `reload` once after each burst of changes, and never while it is still running; never throws. */
export function watchConfig(
  files: readonly string[],
  reload: () => unknown,
  options: WatchOptions = {},
): ConfigWatch {
  return new ConfigWatch(files, reload, options)
}

/**
 * Watches the directories of the files, and of symbolic links on the way: editors replace a file with a new
 * one, and Kubernetes switches a link in the middle of the path. Other entries of a directory are ignored,
 * such as a log that grows beside the files; in addition, the files themselves are compared.
 */
export class ConfigWatch {
  readonly #reload: () => unknown
  readonly #settle: number
  readonly #failed: (error: Error) => void
  #seen = new Map<string, string>() // path to fingerprint
  #watchers: FSWatcher[] = []
  #timer: NodeJS.Timeout | undefined
  #isReloading = false
  #isClosed = false

  constructor(
    files: readonly string[],
    reload: () => unknown,
    { settle = 100, failed = () => {} }: WatchOptions,
  ) {
    this.#reload = reload
    this.#settle = settle
    this.#failed = failed
    this.follow(files)
  }

  /** Requests a reload, whether or not a file has changed; used for SIGHUP. */
  trigger(): void {
    if (this.#isClosed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#settled(), this.#settle)
  }

  /** Watches these files from now on, since a reload may have found others. */
  follow(files: readonly string[]): void {
    if (this.#isClosed) return
    this.#seen = new Map(files.map(file => [file, this.#seen.get(file) ?? fingerprint(file)]))
    this.#watchAll()
    this.#compare()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#stop()
  }

  #watchAll(): void {
    this.#stop()
    const entries = Map.groupBy([...this.#seen.keys()].flatMap(entriesOnTheWay), ({ directory }) => directory)
    for (const [directory, of] of entries)
      if (of.some(({ decides }) => decides)) this.#watch(directory, new Set(of.map(({ name }) => name)))
  }

  #watch(directory: string, names: Set<string>): void {
    // An event of the directory itself, such as its deletion, has the directory's name, or none.
    names.add(basename(directory))
    try {
      const watcher = watch(directory, { persistent: false }, (_, name) => {
        if (name === null || names.has(name)) this.#noticed()
      })
      this.#watchers.push(watcher.on('error', this.#failed))
    } catch (error) {
      this.#failed(error as Error)
    }
  }

  #stop(): void {
    for (const watcher of this.#watchers) watcher.close()
    this.#watchers = []
  }

  #noticed(): void {
    // A directory is created before the file in it.
    if (this.#seen.values().some(isError)) this.#watchAll()
    this.#compare()
  }

  #compare(): void {
    for (const [file, seen] of this.#seen) if (fingerprint(file) !== seen) return this.trigger()
  }

  async #settled(): Promise<void> {
    if (this.#isReloading) return this.trigger()
    this.#isReloading = true
    for (const file of this.#seen.keys()) this.#seen.set(file, fingerprint(file))
    try {
      await this.#reload()
    } catch (error) {
      this.#failed(error as Error)
    }
    this.#isReloading = false
    this.follow([...this.#seen.keys()])
  }
}

/** The name of something in a directory. */
interface Entry {
  readonly directory: string
  readonly name: string
  /** Whether it decides the target of the path; other directories matter only when replaced. */
  readonly decides: boolean
}

/** Returns the entries along a path, links followed, until one is missing. */
function entriesOnTheWay(file: string): readonly Entry[] {
  const entries: Entry[] = []
  const rest = file.split(sep)
  let at = isAbsolute(file) ? sep : process.cwd()
  for (let links = 0; rest.length > 0 && links <= maxLinks; ) {
    const name = rest.shift()!
    const target = targetOf(join(at, name))
    entries.push({ directory: at, name, decides: target !== 'none' || rest.length === 0 })
    if (target === 'missing') break
    if (target === 'none') at = join(at, name)
    else {
      links++
      rest.unshift(...target.path.split(sep))
      if (isAbsolute(target.path)) at = sep
    }
  }
  return entries
}

/** As many as Linux follows. */
const maxLinks = 40

/** Returns the target of a symbolic link; `none` if the path is not a link. */
function targetOf(path: string): { readonly path: string } | 'none' | 'missing' {
  try {
    return { path: readlinkSync(path) }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EINVAL' ? 'none' : 'missing'
  }
}

function fingerprint(file: string): string {
  try {
    const { dev, ino, size, mtimeNs } = statSync(file, { bigint: true })
    return [dev, ino, size, mtimeNs].join()
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  }
}

/** Whether a fingerprint is that of a file that cannot be found. */
function isError(print: string): boolean {
  return !print.includes(',')
}
