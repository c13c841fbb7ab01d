// Things that need attention in accounts. Readers wait for a bounded time; a longer search continues.

import type { Permission } from '../../permissions/permit.ts'
import { type Change, type Store, StoreDegraded, StoreUnreachable } from '../../store/contract/store.ts'
import { type Finding, finds, type FindingKind, type Scene } from './findings.ts'

/** Maximum of findings per kind; others are only counted. */
const maxPerKind = 20

interface SearchResult {
  readonly permission: Permission
  readonly findings: readonly Finding[]
  readonly counts: ReadonlyMap<FindingKind, number>
}

interface Report {
  /** Ms since the epoch. */
  readonly at: number
  readonly results: readonly SearchResult[]
}

interface Page {
  report: Report | null
  search: Promise<Report> | null
  isOutdated: boolean
}

interface AttentionOptions {
  /** How long a reader waits, in ms. */
  readonly timeout?: number
  /** How long a report is valid while nothing changes, in ms. */
  readonly lifetime?: number
}

export class Attention {
  readonly #pages = new Map<string, Page>()
  readonly #timeout: number
  readonly #lifetime: number
  readonly #unfollow: (() => void)[]
  #isClosed = false

  constructor(
    { changes, degradation }: Pick<Store, 'changes' | 'degradation'>,
    { timeout = 40, lifetime = 30_000 }: AttentionOptions = {},
  ) {
    this.#timeout = timeout
    this.#lifetime = lifetime
    this.#unfollow = [
      changes.follow(change => this.#hear(change)),
      degradation.follow(() => this.#hear({ kind: 'everything' })),
    ]
  }

  /** Returns the report of an account; an earlier one, or null, if a new one takes too long. */
  async read(scene: Scene): Promise<Report | null> {
    const page = this.#pageOf(scene.account)
    const { report } = page
    if (report !== null && !page.isOutdated && scene.now - report.at < this.#lifetime) return report
    page.search ??= this.#search(scene, page)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<Report | null>(resolve => {
      timer = setTimeout(resolve, this.#timeout, report)
    })
    try {
      return await Promise.race([page.search, late])
    } finally {
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const unfollow of this.#unfollow) unfollow()
    await Promise.allSettled([...this.#pages.values()].map(({ search }) => search))
  }

  #pageOf(account: string): Page {
    let page = this.#pages.get(account)
    if (page === undefined)
      this.#pages.set(account, (page = { report: null, search: null, isOutdated: false }))
    return page
  }

  #hear(change: Change): void {
    // A user may be a member of any account, and the configuration of a zone belongs to none.
    for (const [account, page] of this.#pages)
      if (change.kind === 'everything' || change.kind === 'user' || change.account === account)
        page.isOutdated = true
  }

  #search(scene: Scene, page: Page): Promise<Report> {
    page.isOutdated = false
    const search = this.#find(scene)
      .then(report => {
        page.report = report
        return report
      })
      .finally(() => {
        page.search = null
      })
    // A reader that stopped waiting does not see the failure.
    search.catch(() => {
      page.isOutdated = true
    })
    return search
  }

  async #find(scene: Scene): Promise<Report> {
    const results: SearchResult[] = []
    for (const [permission, find] of finds) {
      const findings: Finding[] = []
      const counts = new Map<FindingKind, number>()
      try {
        for await (const finding of find(scene)) {
          if (this.#isClosed) throw new StoreUnreachable()
          const count = (counts.get(finding.kind) ?? 0) + 1
          counts.set(finding.kind, count)
          if (count <= maxPerKind) findings.push(finding)
        }
      } catch (cause) {
        // A distrusted store has been found, and is the only finding possible.
        if (!(cause instanceof StoreDegraded)) throw cause
      }
      results.push({ permission, findings, counts })
    }
    return { at: scene.now, results }
  }
}
