import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import {
  type ErrorRow,
  errorRows,
  isRaised,
  previews,
  protocolErrors,
} from '../../../src/errors/catalogue/catalogue.ts'
import { root } from '../../help/source.ts'

const rows: readonly ErrorRow[] = Object.values(errorRows)
const codes = Object.values(previews).map(row => row.code)

function distinct(values: readonly unknown[]): void {
  assert.deepEqual(values.toSorted(), [...new Set(values)].sort())
}

test('the catalogue holds the 80 errors of the interface and those of HTTP, each once', () => {
  assert.equal(Object.keys(previews).length, 80)
  assert.equal(rows.length, Object.keys(previews).length + Object.keys(protocolErrors).length)
  distinct(rows.map(row => row.code))
})

test('the errors of the interface are those of the golden table, value by value', () => {
  const table = readFileSync(join(root, 'test/golden/errors.tsv'), 'utf8')
  const pinned = table.trimEnd().split('\n').slice(1)
  const values = Object.entries(previews).map(([name, row]) =>
    [
      row.code,
      name,
      row.title,
      row.status,
      row.category,
      row.retryAfter ?? '-',
      row.ownerActionRequired,
    ].join('\t'),
  )
  assert.deepEqual(values, pinned)
})

test('names are snake_case', () => {
  for (const name of Object.keys(errorRows)) assert.match(name, /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/)
})

test('no two errors have the same words', () => {
  distinct(rows.map(row => row.detail))
  distinct(rows.map(row => row.guidance))
})

test('the errors worth a retry and their waits are those of the interface', () => {
  const waits = Object.values(previews).flatMap(row =>
    row.retryAfter === null ? [] : [[row.code, row.retryAfter]],
  )
  assert.deepEqual(Object.fromEntries(waits), {
    500: 30,
    502: 60,
    504: 120,
    520: 60,
    521: 120,
    522: 120,
    523: 120,
    524: 120,
    1004: 120,
    1015: 30,
    1033: 120,
    1038: 60,
    1200: 60,
    1205: 5,
  })
})

test('the categories are those of the interface', () => {
  const named: Readonly<Record<string, readonly number[]>> = {
    origin: [502, 504, 520, 521, 522, 523, 524],
    cloudflare: [500],
    ssl: [525, 526],
    access_denied: [1005, 1006, 1007, 1008, 1010, 1012, 1106, 1107, 1108, 1109],
    rate_limit: [1015, 1025, 1027, 1200],
    dns: [1001, 1016],
    config: [1004, 1014, 1033, 1043, 1047, 1049],
    tls: [1017, 1028, 1029, 1044],
    legal: [1026, 1039],
    worker: [1042, 1100, 1101, 1102, 1103, 1104, 1105],
    rewrite: [1036, 1037],
    snippet: [1201, 1202, 1203, 1204, 1205, 1206],
    unsupported: [1045],
  }
  for (const [category, examples] of Object.entries(named)) {
    for (const code of examples)
      assert.equal(rows.find(row => row.code === code)?.category, category, `${code}`)
  }
})

test('a 5xx code is its own status, and a 1xxx code has a 4xx or 5xx status', () => {
  for (const row of Object.values(previews)) {
    if (row.code < 1000) assert.equal(row.status, row.code)
    else assert.ok(row.status >= 400 && row.status < 600, `${row.code}`)
  }
})

test('the errors of HTTP carry its status, are of no use to retry but for 409 and 503, and cannot be previewed', () => {
  for (const row of Object.values(protocolErrors)) {
    assert.equal(row.code, row.status)
    assert.ok(STATUS_CODES[row.status])
    assert.equal(row.retryAfter, row.code === 409 || row.code === 503 ? 5 : null)
    assert.ok(!codes.some(code => String(code) === String(row.code)), `${row.code}`)
  }
})

test('guidance says first whether to retry, and how long to wait exactly where a wait is known', () => {
  for (const row of rows) {
    const isRetryable = row.retryAfter !== null
    const lead = isRetryable ? '**Wait and retry.** ' : '**Do not retry.** '
    assert.ok(row.guidance.startsWith(lead), `${row.code}`)
    assert.equal(row.guidance.includes('{retry_after}'), isRetryable, `${row.code}`)
  }
})

test('every text is whole sentences in ASCII, without markup, addresses or digits that look like one', () => {
  for (const { code, detail, guidance, cause, remedy } of rows) {
    const plain = guidance.replace(/^\*\*(.+?)\*\* /, '$1 ').replace('{retry_after}', '60')
    for (const text of [detail, plain, cause, remedy]) {
      assert.match(text, /^[A-Z][\x20-\x7e]*\.$/, `${code}: ${text}`)
      assert.doesNotMatch(text, /[*<>[\]`{}#|]|\d+\.\d+\.\d+/, `${code}: ${text}`)
    }
  }
})

test('texts for clients never mention settings or internals', () => {
  for (const { code, detail, guidance } of rows) {
    assert.doesNotMatch(
      `${detail} ${guidance}`,
      /[a-z]_[a-z]{3}(?<!\{retry_aft)|\b(timeouts|limits|client)\.[a-z]|gatehouse|ECONN/i,
      `${code}`,
    )
  }
})

test('the settings that operators are sent to can be set', () => {
  const shipped = readFileSync(join(root, 'config/gatehouse.yaml'), 'utf8')
  const settings = parse(shipped.replaceAll(/^( *(?:- )?)#(?=[^ \n#])/gm, '$1'))
  for (const [name, { code, cause, remedy }] of Object.entries(errorRows)) {
    if (!isRaised(name)) continue
    for (const [setting, group, member] of `${cause} ${remedy}`.matchAll(/\b([a-z]+)\.([a-z][a-z_]+)/g))
      assert.ok(member! in (settings[group!] ?? {}), `${code}: ${setting}`)
  }
})

test('texts for operators mention nothing that this version lacks', () => {
  for (const [name, { code, detail, cause, remedy }] of Object.entries(errorRows)) {
    if (isRaised(name))
      assert.doesNotMatch(
        `${detail} ${cause} ${remedy}`,
        /a turn at|decoded|rules have|resolves to one|underscore|unknown form/,
        `${code}`,
      )
  }
})

test('the page of 404 lists the errors without a preview', () => {
  const codes = Object.values(protocolErrors).map(row => row.code)
  assert.deepEqual(protocolErrors.not_found.remedy.match(/\d+/g)?.map(Number), codes)
})
