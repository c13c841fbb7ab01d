// The frame of every page of the dashboard: head, navigation, accounts, and the last result; and the header
// fields that keep it out of caches and strange hands.

import { type Html, html } from '../base/text/html.ts'
import { gate, icon } from '../errors/render/page.ts'
import { accountName, notice, isolated } from '../pages/parts/components.ts'
import { type PageResponse, strictHeaders } from '../pages/parts/layout.ts'
import { leadingOn, paths as ownPaths } from '../pages/parts/paths.ts'
import { scriptPaths, stylePath } from './assets.ts'
import type { Crumb, SectionLink, View } from './page/page-request.ts'
import { paths } from './page/paths.ts'

interface Account {
  readonly id: string
  readonly name: string
}

interface Viewer {
  readonly email: string
  /** The account of the page; null without one. */
  readonly account: Account | null
  /** All accounts of the person, each with the equivalent of this page there. */
  readonly accounts: readonly (Account & { readonly path: string })[]
  readonly sections: readonly SectionLink[]
  readonly path: string
  readonly mayFind: boolean
}

/** Writes a page; `done` is a sentence about the previous action. */
export function writeView(view: View, viewer: Viewer, done: string | null = null): PageResponse {
  const { status = 200 } = view
  const headers = [
    ['content-type', 'text/html; charset=utf-8'],
    ['content-security-policy', policyOf(view)],
    ...strictHeaders,
  ] as const
  return { status, headers, body: page(view, viewer, done).markup }
}

function policyOf({ hasPictures = false, hasFrames = false }: View): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    `img-src 'self' data:${hasPictures ? ' https:' : ''}`,
    hasFrames && "frame-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]
    .filter(Boolean)
    .join('; ')
}

function page(view: View, viewer: Viewer, done: string | null): Html {
  const { title, content, crumbs = [], actions = null, isWide = false, status = 200 } = view
  const place = viewer.account === null ? '' : ` · ${viewer.account.name}`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${status === 422 && 'Error: '}${title}${place} · Gatehouse</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${stylePath}">
${scriptPaths.map(
  path => html`<script type="module" src="${path}"></script>
`,
)}</head>
<body class="dashboard">
<a class="skip" href="#main">Skip to the content</a>
${bar(viewer, crumbs[0]?.path ?? viewer.path)}
<main id="main"${isWide && html` class="wide"`}>
${crumbs.length > 0 && trail(crumbs)}<div class="head"><h1>${title}</h1>${actions !== null && html`<div class="actions">${actions}</div>`}</div>
${done !== null && notice(done, 'good')}
${content}
</main>
</body>
</html>
`
}

function bar(viewer: Viewer, place: string): Html {
  const { account, accounts, email } = viewer
  const section = account === null ? undefined : sectionOf(viewer.sections, account.id, place)
  return html`<header class="bar">
<a class="mark" href="${paths.root}"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="${gate}"/></svg>Gatehouse</a>
<details class="menu"><summary>Menu</summary>
<div class="menu-body">
${account !== null && accountSwitch(account, accounts)}
${account !== null && viewer.mayFind && finder(account)}
${account !== null && navigation(viewer, section)}
<ul class="person">${account !== null && html`<li><a href="${paths.guide(account.id, section?.guide ?? 'dashboard')}">Guide</a></li><li><a href="${paths.apiDocs(account.id, section?.api)}">Management API</a></li>`}<li><a href="${ownPaths.account}"><span class="unseen">Your profile: </span>${isolated(email)}</a></li><li><a href="${leadingOn(ownPaths.signOut, paths.root)}">Sign out</a></li></ul>
</div>
</details>
</header>`
}

function accountSwitch(account: Account, accounts: Viewer['accounts']): Html {
  const others = accounts.filter(({ id }) => id !== account.id)
  const name = html`<span><span class="hint">Account</span> ${accountName(account, accounts)}</span>`
  if (others.length === 0) return html`<p class="account">${name}</p>`
  return html`<details class="account"><summary>${name}</summary>
<ul aria-label="Other accounts">${others.map(one => html`<li><a href="${one.path}">${accountName(one, accounts)}</a></li>`)}</ul>
</details>`
}

function navigation({ sections, path }: Viewer, current: SectionLink | undefined): Html {
  return html`<nav aria-label="Sections"><ul>${sections.map(
    section =>
      html`<li><a href="${section.path}"${section === current && html` aria-current="${section.path === path ? 'page' : 'true'}"`}>${section.title}</a></li>`,
  )}</ul></nav>`
}

function finder({ id }: Account): Html {
  return html`<form class="find" role="search" aria-label="Account" method="get" action="${paths.find(id)}"><label for="find">Search <kbd>/</kbd></label><input id="find" name="q" type="search" required maxlength="100" autocomplete="off" autocapitalize="none" spellcheck="false" aria-keyshortcuts="/"><button class="plain small">Find</button></form>`
}

/**
 * Finds the section of a place. The path of the overview is above all others, yet its section contains
 * nothing but itself.
 */
function sectionOf(
  sections: readonly SectionLink[],
  account: string,
  place: string,
): SectionLink | undefined {
  const isAround = ({ path }: Crumb) => path !== paths.home(account) && place.startsWith(`${path}/`)
  return sections.find(one => one.path === place || isAround(one))
}

function trail(crumbs: readonly Crumb[]): Html {
  return html`<nav class="crumbs" aria-label="Where you are"><ol>${crumbs.map(
    ({ title, path }) => html`<li><a href="${path}">${isolated(title)}</a></li>`,
  )}</ol></nav>
`
}
