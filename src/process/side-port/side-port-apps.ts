// The apps of the side port besides the management API. One per gateway, in its main process.

import type { Config } from '../../config/model/config.ts'
import { isOfSignIn, isOfSites } from '../../pages/parts/paths.ts'
import type { SidePortApp } from '../../admin/api/side-port-app.ts'
import { ManagementMetadata } from '../../admin/api/protected-resource.ts'
import { isOfDashboard } from '../../dashboard/page/paths.ts'
import { isOfOAuth } from '../../oauth-server/http/paths.ts'
import type { BuiltApps, AppParts } from './built-apps.ts'
import { hasOAuth } from '../ports/pages-url.ts'

export class SidePortApps {
  /** If two take the same path, the first gets it. */
  readonly all: readonly SidePortApp[]
  /** The apps that the edge may expose: the authorization server where its issuer is published. */
  readonly published: readonly SidePortApp[]
  /** The start page for browsers; null without pages. */
  readonly front: string | null
  readonly #parts: AppParts
  #built: Promise<BuiltApps> | null = null

  constructor(parts: AppParts) {
    const { config } = parts
    this.#parts = parts
    const hasPages = hasOAuth(config) || config.dashboard.host !== null
    this.front = hasPages ? '/dashboard' : null
    const pages = hasPages ? [this.#late(isOfSignIn, 'signIn'), this.#late(isOfDashboard, 'dashboard')] : []
    const oauth = hasOAuth(config) ? [this.#late(isOfOAuth, 'oauth')] : []
    const sites = hasPages ? [this.#late(isOfSites, 'sites')] : []
    this.published = [...pages, ...sites, ...(isPublished(config) ? oauth : [])]
    this.all = [
      ...pages,
      ...(oauth.length === 0
        ? []
        : [...oauth, new ManagementMetadata(() => config.oauth.issuer ?? parts.sidePort())]),
    ]
  }

  async load(): Promise<void> {
    if (this.front !== null) await this.#ready
  }

  /** Call it before the store closes. */
  async close(): Promise<void> {
    const built = await this.#built?.catch(() => null)
    await built?.close()
  }

  get #ready(): Promise<BuiltApps> {
    // A failure, such as for want of descriptors, is retried with the next request.
    this.#built ??= this.#build().catch(fault => {
      this.#built = null
      throw fault
    })
    return this.#built
  }

  async #build(): Promise<BuiltApps> {
    const { buildApps } = await import('./built-apps.ts')
    return buildApps(this.#parts)
  }

  #late(takes: SidePortApp['takes'], name: Exclude<keyof BuiltApps, 'close'>): SidePortApp {
    return { takes, serve: async (...request) => (await this.#ready)[name]!.serve(...request) }
  }
}

function isPublished({ zones }: Config): boolean {
  return zones.some(({ routes }) => routes.some(({ own }) => own === 'issuer'))
}
