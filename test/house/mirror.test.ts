// Each file with code has a test at the same path, or another one that is named here and holds it.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { root, sourceFiles } from '../help/source.ts'

/** Tests that hold files at other paths, which they load: files, and folders for all in them that have no test of their own. */
const held: Readonly<Record<string, readonly string[]>> = {
  'edge/trace/request-spans': ['edge/trace/'],
  'wire/compression': ['edge/compression/'],
  'wire/ai-stream-usage': ['edge/ai/usage-refusal'],
  'telemetry/exporters': ['telemetry/', 'base/node-http'],
  'access/lists': ['access/watched-files'],
  'access/policy': [
    'access/conditions',
    'access/lower-case',
    'access/rules',
    'access/shortlist',
    'access/visit',
  ],
  'admin/ai-logs/logs': ['admin/ai-logs/'],
  'admin/custom-errors/preview': ['admin/custom-errors/'],
  'admin/guard': ['admin/request/', 'admin/row'],
  'admin/oauth-clients/clients': ['admin/oauth-clients/'],
  'admin/docs/docs': ['admin/docs/'],
  'admin/openapi/openapi': ['admin/openapi/', 'admin/gateways/', 'admin/zones/'],
  'admin/attention/attention': ['admin/attention/'],
  'admin/overview/overview': ['admin/overview/'],
  'admin/providers/providers': ['admin/providers/', 'ai/provider-origin', 'process/plane/provider-facts'],
  'admin/people/accounts': ['admin/people/'],
  'admin/oauth-grants/grants': ['admin/oauth-grants/'],
  'admin/records/audit-logs': ['admin/records/audit-csv', 'admin/records/audit-walk', 'admin/records/routes'],
  'admin/server': [
    'admin/envelope',
    'admin/error-docs',
    'admin/handover',
    'admin/home',
    'admin/no-page',
    'admin/raw-refusals',
    'admin/routes',
    'base/send-stream',
  ],
  'admin/tokens/tokens': ['admin/tokens/'],
  'ai-logs/entry': ['ai-logs/decode'],
  'ai-logs/query': ['ai-logs/query-filters', 'ai-logs/query-values'],
  'ai-logs/queue': ['ai-logs/backlog', 'ai-logs/batches'],
  'ai-logs/series/log-series': ['ai-logs/series/'],
  'edge/ai/provider-states': ['ai/provider-calls'],
  'ai/plan': ['ai/asked'],
  'ai/usage/usage': ['ai/usage/level'],
  'ai/translate/there-and-back': ['ai/translate/'],
  'base/address/address-table': ['base/address/address-rows'],
  'base/turns/turns': ['base/turns/short-exchanges'],
  'certificates/acme/orders': ['certificates/acme/', 'process/acme/acme-authority'],
  'journeys/systemd': ['process/systemd/service-manager'],
  'process/commands/store-copy': ['process/store/unfinished-copy'],
  'journeys/move-store': ['process/store/in-use'],
  'process/store/key-watch': ['store/key-note'],
  'journeys/upgrade': ['admin/operator-command', 'process/commands/running'],
  'config/file/parse': ['config/custom-errors-config', 'config/file/read-tree'],
  'config/golden': ['config/resolve/', 'config/settings/', 'tls/pem'],
  'certificates/holdings': ['certificates/by-name'],
  'domains/txt-lookup': ['domains/txt-query'],
  'edge/challenge': ['certificates/automatic'],
  'dashboard/face': [
    'dashboard/admission',
    'dashboard/assets',
    'dashboard/deeds',
    'dashboard/paths',
    'dashboard/refusals',
    'dashboard/sections',
  ],
  'dashboard/docs/docs': ['dashboard/docs/'],
  'dashboard/parts/parts': ['dashboard/parts/'],
  'dashboard/empty-lists': ['dashboard/parts/next-step'],
  'dashboard/oauth-clients/oauth-clients': ['dashboard/oauth-clients/'],
  'dashboard/gateways/gateways': ['dashboard/gateways/'],
  'dashboard/providers/providers': ['dashboard/providers/'],
  'dashboard/logs/logs': ['dashboard/logs/'],
  'dashboard/own-tokens/own-tokens': ['dashboard/own-tokens/'],
  'dashboard/members/members': ['dashboard/members/'],
  'dashboard/audit/audit': ['dashboard/audit/'],
  'dashboard/errors/errors': ['dashboard/errors/'],
  'dashboard/overview/overview': ['dashboard/overview/'],
  'dashboard/tokens/tokens': ['dashboard/tokens/', 'dashboard/parts/picker'],
  'dashboard/zones/zones': ['dashboard/zones/'],
  'edge/client/http2-connection': [
    'edge/client/http2-account',
    'edge/client/http2-reader',
    'edge/client/http2-writer',
  ],
  'edge/client-certificate': ['certificates/client-trust'],
  'edge/accept/connection-limits': ['base/descriptors'],
  'edge/accept/listeners': ['base/listening-socket'],
  'edge/explain/rehearsal': ['edge/explain/'],
  'edge/note-error': ['tallies/scopes'],
  'edge/origin/origin': ['edge/origin/', 'base/misuse'],
  'edge/resolver/address-book': ['edge/resolver/'],
  'edge/origin/health-checker': ['edge/origin/health-check', 'edge/resolver/address-guard'],
  'edge/rewrite/rewrite': ['edge/rewrite/'],
  'errors/compose': ['errors/response-head', 'errors/render/'],
  'errors/custom/custom-content': ['errors/custom/'],
  'errors/docs/document': ['errors/docs/'],
  'expression/expression': ['expression/'],
  'limits/limiter': ['limits/'],
  'metrics/metrics': ['metrics/'],
  'oauth-server/oauth-face': ['oauth-grants/', 'oauth-server/'],
  'people/links/invitations': ['people/links/links'],
  'people/openid/openid-sign-in': ['people/openid/openid-provider'],
  'people/attempt-log': ['people/sign-out'],
  'people/own-account': ['people/trail', 'people/users'],
  'people/sessions': ['people/secret-value'],
  'pages/pages.browser': ['pages/components', 'pages/style', 'pages/views/'],
  'pools/health': ['pools/circuit'],
  'process/commands/account': ['process/store/new-account'],
  'process/commands/table': ['base/text/visible'],
  'process/commands/cli': ['process/commands/', 'process/store/with-store'],
  'process/commands/client/verbs': ['process/commands/client/'],
  'process/commands/ai-gateway/verbs': ['process/commands/ai-gateway/'],
  'process/commands/log/tail': ['process/commands/log/'],
  'process/commands/explain/explain': ['process/commands/explain/'],
  'http2/client/session': ['http2/client/'],
  'http2/server-session': ['http2/'],
  'wire/http2-origins': ['edge/origin/http2/', 'edge/origin/outbound-head'],
  'process/commands/member/verbs': ['process/commands/member/'],
  'process/demo/origin': ['process/demo/'],
  'process/workers/supervisor': ['process/workers/', 'process/gateway/', 'process/plane/', 'process/url'],
  'sign-in/account': ['sign-in/connected-apps', 'sign-in/two-step'],
  'sign-in/face': ['sign-in/ask', 'pages/sent-form', 'pages/not-now'],
  'store/log-batch/batch': ['store/log-batch/'],
  'store/redis/contract': ['store/redis/', 'store/'],
  'store/sqlite/sqlite-store': ['store/sqlite/'],
  'tokens/token-uses': ['tallies/hourly-uses'],
  'wire/access': ['edge/admit'],
  'wire/http2-penalties': ['edge/accept/penalties', 'edge/accept/refused-clients', 'edge/accept/tarpit'],
  'wire/http2': [
    'edge/client/http2-requests',
    'edge/client/http2-stream',
    'edge/accept/overture',
    'edge/grpc',
    'errors/compose-grpc',
  ],
  'tls/client-certificate': ['tls/distinguished-name'],
  'wire/ai-native': ['edge/ai/'],
  'wire/guards': ['edge/', 'http1/going-away', 'base/clock', 'base/turns/slices'],
  'wire/pipelining': ['edge/client/connection'],
  'wire/pools': ['pools/', 'edge/origin/pools'],
  'wire/rate-limits': ['edge/meter/rules'],
  'wire/tls-clients': ['tls/ticket-keys'],
  'wire/transparency': ['edge/forward/'],
  'zones/zone-records': ['zones/', 'store/cache/follower'],
}

const has = (name: string) => existsSync(join(root, `test/${name}.test.ts`))

/** Tables and types do nothing that a test could ask for. */
function hasCode(text: string): boolean {
  const code = stripTypeScriptTypes(text)
    .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    .replace(/'[^'\n]*'/g, "''")
  return /=>|\bfunction\b|\bclass\b/.test(code)
}

const untested = sourceFiles()
  .filter(
    ({ path, text }) => !has(path.slice(0, -3)) && !has(`${path.slice(0, -3)}.browser`) && hasCode(text),
  )
  .map(({ path }) => path.slice(0, -3))

/** Returns the entry of those held that speaks of a file: the longest, since a file comes before its folder. */
function holderOf(path: string): { readonly name: string; readonly entry: string } | null {
  const all = Object.entries(held).flatMap(([name, entries]) => entries.map(entry => ({ name, entry })))
  const fitting = all.filter(({ entry }) => (entry.endsWith('/') ? path.startsWith(entry) : path === entry))
  return fitting.toSorted((a, b) => b.entry.length - a.entry.length)[0] ?? null
}

const links =
  /(?:^import (?!type )[^'"]*?from |^import |\bimport\(|\bnew URL\()'(\.[^']+\.ts)'|'(src\/main\.ts)'/gm

/** Adds the files that one loads, programs that it starts included. */
function load(file: string, loaded: Set<string>): Set<string> {
  if (loaded.has(file) || !existsSync(file)) return loaded
  loaded.add(file)
  for (const [, near, main] of readFileSync(file, 'utf8').matchAll(links))
    load(main === undefined ? join(dirname(file), near!) : join(root, main), loaded)
  return loaded
}

test('each file with code has a test at its path, or one that holds it', () => {
  assert.deepEqual(
    untested.filter(path => holderOf(path) === null),
    [],
  )
})

test('what is said to hold a file loads it', () => {
  const loadedBy = new Map(
    Object.keys(held).map(name => [name, load(join(root, `test/${name}.test.ts`), new Set())]),
  )
  const wrong = untested.flatMap(path => {
    const holder = holderOf(path)
    if (holder === null || loadedBy.get(holder.name)!.has(join(root, `src/${path}.ts`))) return []
    return [`test/${holder.name}.test.ts does not load src/${path}.ts`]
  })
  assert.deepEqual(wrong, [])
})

test('the exceptions name tests, files and folders that are there', () => {
  const isThere = (entry: string) =>
    existsSync(join(root, 'src', entry.endsWith('/') ? entry : `${entry}.ts`))
  assert.deepEqual(
    Object.values(held)
      .flat()
      .filter(entry => !isThere(entry)),
    [],
  )
  assert.deepEqual(
    Object.keys(held).filter(name => !has(name)),
    [],
  )
})
