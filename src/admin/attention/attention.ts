// What needs attention in accounts, found again when something has changed or time has passed. A reader waits for a bounded time; what takes longer goes on for
// the next one.

import type { Permission } from '../../permissions/permit.ts'
import { type Change, type Store, StoreDegraded, StoreUnreachable } from '../../store/contract/store.ts'
import { type Finding, finds, type FindingKind, type Scene } from './findings.ts'

/** Findings of one kind that are kept; others are only counted. */
const mostOfKind = 20

/** What was found with a permission, as far as that went. */
interface Found {
  readonly permission: Permission
  readonly findings: readonly Finding[]
  readonly counts: ReadonlyMap<FindingKind, number>
}

interface Report {
  /** Ms since the epoch. */
  readonly at: number
  readonly found: readonly Found[]
}

interface Page {
  report: Report | null
  /** The search that goes on. */
  search: Promise<Report> | null
  isOutdated: boolean
}

interface AttentionOptions {
  /** Ms that a reader waits. */
  readonly patience?: number
  /** Ms for which a report is good while nothing changes. */
  readonly lifetime?: number
}

export class Attention {
  readonly #pages = new Map<string, Page>()
  readonly #patience: number
  readonly #lifetime: number
  readonly #unfollow: (() => void)[]
  #isClosed = false

  constructor(
    { changes, degradation }: Pick<Store, 'changes' | 'degradation'>,
    { patience = 40, lifetime = 30_000 }: AttentionOptions = {},
  ) {
    this.#patience = patience
    this.#lifetime = lifetime
    this.#unfollow = [
      changes.follow(change => this.#hear(change)),
      degradation.follow(() => this.#hear({ kind: 'everything' })),
    ]
  }

  /** Returns the report of an account; an earlier one, or null, where a new one takes too long. */
  async read(scene: Scene): Promise<Report | null> {
    const page = this.#pageOf(scene.account)
    const { report } = page
    if (report !== null && !page.isOutdated && scene.now - report.at < this.#lifetime) return report
    page.search ??= this.#search(scene, page)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<Report | null>(resolve => {
      timer = setTimeout(resolve, this.#patience, report)
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
    // A user is a member of any account, and the configuration of a zone of none.
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
    // Who does not wait any more hears of no failure.
    search.catch(() => {
      page.isOutdated = true
    })
    return search
  }

  async #find(scene: Scene): Promise<Report> {
    const found: Found[] = []
    for (const [permission, find] of finds) {
      const findings: Finding[] = []
      const counts = new Map<FindingKind, number>()
      try {
        for await (const finding of find(scene)) {
          if (this.#isClosed) throw new StoreUnreachable()
          const count = (counts.get(finding.kind) ?? 0) + 1
          counts.set(finding.kind, count)
          if (count <= mostOfKind) findings.push(finding)
        }
      } catch (cause) {
        // That it is not trusted has been found, and is all that can be.
        if (!(cause instanceof StoreDegraded)) throw cause
      }
      found.push({ permission, findings, counts })
    }
    return { at: scene.now, found }
  }
}
