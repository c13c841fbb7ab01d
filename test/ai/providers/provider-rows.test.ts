// docs/providers.md lists the providers as they are here. WRITE_DOCS=1 writes the table again.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ProviderRow, providerRows } from '../../../src/ai/providers/provider-rows.ts'
import { priceDate, priceRows, reportsCost } from '../../../src/ai/usage/price-rows.ts'
import { usageOf } from '../../../src/ai/usage/usage.ts'
import { versions } from '../../../src/config/settings/ai-rules.ts'
import { readPage, section } from '../../help/docs.ts'
import { root } from '../../help/source.ts'

const page = readPage('docs/providers.md')
const rows: readonly (readonly [string, ProviderRow])[] = Object.entries(providerRows)

test('the page lists every provider with its address, names, APIs, key and prices', () => {
  const head = '| provider | base |'
  const from = page.text.indexOf('\n', page.text.indexOf('\n', page.text.indexOf(head)) + 1) + 1
  const to = page.text.indexOf('\n\n', from - 1) + 1
  const written = `${page.text.slice(0, from)}${rows.map(line).join('')}${page.text.slice(to)}`
  if (process.env.WRITE_DOCS) writeFileSync(join(root, page.path), written)
  else equal(page.text, written)
})

function line([name, row]: readonly [string, ProviderRow]): string {
  const names = row.aliases.map(alias => `\`${alias}\``).join(', ')
  const apis = Object.keys(row.endpoints).join(', ')
  const prices = Object.keys(priceRows[name] ?? {}).length
  const known =
    prices > 0 ? `${prices} models` : reportsCost.has(name) ? 'none: it says what a call costs' : 'none'
  const key = row.keyPrefix === '' ? `\`${row.keyField}\`` : `\`${row.keyField}\`, as a bearer token`
  const asked = row.dialect === 'anthropic' ? 'not needed' : row.streamsUsage ? 'sent' : 'not sent'
  const price = shared[name] ?? known
  return `| ${name} | \`${row.base}\` | ${names} | ${apis} | ${key} | ${asked} | ${price} |\n`
}

const shared: Readonly<Record<string, string>> = {
  'azure-openai': 'those of openai',
  'google-vertex-ai': 'those of google-ai-studio and anthropic',
  'aws-bedrock': 'those of anthropic',
}

test('the page says of which day the prices are that come with Gatehouse', () => {
  ok(page.text.includes(`are of ${priceDate}`))
  ok(Date.parse(priceDate) > Date.parse('2025-01-01'))
})

test('responses are counted as the page says, and each provider has one there', () => {
  const { text } = section(page, 'How they count')
  const lines = [...text.matchAll(/^\| (\S+) \| `(\{.*\})` \| (.*) \|$/gm)]
  for (const [, , response, told] of lines) {
    const bytes = Buffer.from(response!)
    const counts = usageOf({ head: bytes, tail: Buffer.alloc(0), isEventStream: false, isWhole: true })
    equal(`${counts.tokensIn} in, ${counts.tokensOut ?? 'unknown'} out`, told, response!)
  }
  deepEqual(
    [...new Set(lines.map(([, provider]) => provider!))].toSorted(),
    rows.map(([name]) => name).toSorted(),
  )
})

test('the page tells the limits of every provider', () => {
  const { text } = section(page, 'Limits')
  const named = [...text.matchAll(/^\| ([a-z, -]+) \| /gm)].flatMap(([, names]) => names!.split(', '))
  for (const [name] of rows) ok(named.includes(name), name)
})

test('the versions that calls add are those of which the configuration warns in URLs', () => {
  const begun = Object.entries(providerRows).flatMap(([name, { endpoints }]) => {
    const [version] = /^\/v\d\w*/.exec(Object.values(endpoints)[0]!) ?? []
    return version === undefined ? [] : [[name, version] as const]
  })
  deepEqual(new Map(begun), versions)
})
