// The part of our pages in signing in for a site: whoever has a session here gets a code for it. The site has
// begun this, and only the browser that it began with can exchange the code (RFC 7636).

import { type Page, type PageResponse, redirectTo } from '../pages/parts/layout.ts'
import { leadingOn, paths } from '../pages/parts/paths.ts'
import { messagePage } from '../pages/views/message.ts'
import type { SiteSessions } from '../people/sessions/site-sessions.ts'
import type { Ask, Handlers } from './ask.ts'
import { stateForm } from './site-state.ts'
import type { Sites } from './sites.ts'

export interface SiteParts {
  readonly sites: Sites
  readonly sessions: SiteSessions
}

export function siteHandlers(parts: SiteParts | null): readonly (readonly [string, Handlers])[] {
  return parts === null ? [] : [[paths.site, { show: ask => show(ask, parts) }]]
}

async function show(
  { query, path, actor }: Ask,
  { sites, sessions }: SiteParts,
): Promise<Page | PageResponse> {
  const site = sites.find(query.get('site'))
  const [state, challenge] = [query.get('state') ?? '', query.get('challenge') ?? '']
  if (site === null || !stateForm.test(state) || !/^[\w-]{43}$/.test(challenge)) return unknown
  if (actor === null) return redirectTo(leadingOn(paths.signIn, `${path}?${query}`))
  const code = await sessions.issueCode(actor.session, { site: site.origin, challenge })
  const address = `${site.origin}/cdn-cgi/signed-in?${new URLSearchParams({ code, state })}`
  // Browsers hold redirects behind a form to the policy of its page, which allows this origin alone.
  return {
    ...messagePage({
      status: 200,
      title: `On to ${site.host}`,
      text: 'You are signed in, and your browser goes on by itself.',
      link: { href: address, text: 'Go on' },
    }),
    leadsTo: address,
  }
}

/** Returns the host of the site that a path of ours leads to; null for another path. */
export function siteBehind(path: string, { sites }: Pick<SiteParts, 'sites'>): string | null {
  if (!path.startsWith(`${paths.site}?`)) return null
  return sites.find(new URL(path, 'http://own.invalid').searchParams.get('site'))?.host ?? null
}

const unknown = messagePage({
  status: 400,
  title: 'This address is not complete',
  text: 'It leads to no site that people sign in for here. Open the address of the site itself.',
})
