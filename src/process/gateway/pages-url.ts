// Where people reach the pages on which they sign in.

import type { Config, Endpoint } from '../../config/config.ts'
import { isLoopback } from '../../config/settings/host-rules.ts'
import { reachable, urlOf } from '../url.ts'

/** Returns the issuer, or the URL of the side port on `admin` where only this machine or a published port of a container leads to it; else null: there are no pages. */
export function pagesUrl({ oauth }: Pick<Config, 'oauth'>, admin: Endpoint): string | null {
  if (oauth.issuer !== null) return oauth.issuer
  return isLoopback(reachable(admin.host)) ? urlOf(admin) : null
}
