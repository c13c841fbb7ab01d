// Triggers a reload of the configuration: when its files change, or on demand.

import { type FSWatcher, realpathSync, statSync, watch } from 'node:fs'
import { dirname } from 'node:path'

export interface WatchOptions {
  /** How long, in ms, files must be unchanged before a reload. */
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
 * Watches the directories of the files: editors replace a file with a new one, and Kubernetes switches a symbolic link in the middle of the path.
 * Other events in a directory are ignored, since the files themselves are compared.
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

  /** Requests a reload, whether or not a file has changed; SIGHUP does. */
  trigger(): void {
    if (this.#isClosed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#settled(), this.#settle)
  }

  /** Watches these files from now on, since a reload may have found others. */
  follow(files: readonly string[]): void {
    if (this.#isClosed) return
    this.#stop()
    this.#seen = new Map(files.map(file => [file, this.#seen.get(file) ?? fingerprint(file)]))
    for (const directory of new Set(files.flatMap(directories))) this.#watch(directory)
    this.#compare()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#stop()
  }

  #watch(directory: string): void {
    try {
      const watcher = watch(directory, { persistent: false }, () => this.#compare())
      this.#watchers.push(watcher.on('error', this.#failed))
    } catch (error) {
      this.#failed(error as Error)
    }
  }

  #stop(): void {
    for (const watcher of this.#watchers) watcher.close()
    this.#watchers = []
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

/** Returns the directory that contains the name of a file, and the one that contains the file after following all symbolic links. */
function directories(file: string): readonly string[] {
  try {
    return [dirname(file), dirname(realpathSync(file))]
  } catch {
    return [dirname(file)]
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
