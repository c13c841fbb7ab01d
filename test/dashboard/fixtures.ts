// What there is to see on the pages of the dashboard, for tests that look at all of them: whoever adds a page adds here what its path and its state need.

import type { openDashboard } from './site.ts'

type Site = Awaited<ReturnType<typeof openDashboard>>

/** A name that somebody could have chosen to do harm. */
export const hostile = `"><img src=x onerror=alert(1)>'&lt;`

/** Makes what the `{name}` steps of paths stand for, each once, and returns its id. */
export const made: Readonly<Record<string, (site: Site) => Promise<string>>> = {
  token: async ({ keepToken }) => (await keepToken(['API Tokens Read'], { name: hostile })).token.id,
}

/** Other states of pages that are looked at besides: paths behind that of the account, with `{name}` steps and a query. */
export const states: readonly string[] = ['/tokens?done=token-revoked']
