import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ErrorPageType, errorPageTypes } from '../../../src/config/model/custom-errors-config.ts'
import { type ErrorName, errorRows } from '../../../src/errors/catalogue/catalogue.ts'
import { CustomErrors } from '../../../src/errors/custom/custom-errors.ts'
import { pageTypesOf } from '../../../src/errors/custom/page-types.ts'

const names = Object.keys(errorRows) as ErrorName[]

/** Every error that may have a page, by the types of these pages in their order; all others have none. */
const expected: Readonly<Record<string, readonly number[]>> = {
  '500_errors': [502, 504, 520, 521, 522, 523, 524, 525, 526],
  'ip_block, 1000_errors': [1005, 1006, 1007, 1008, 1012, 1106, 1107, 1108],
  'country_challenge, 1000_errors': [1009, 1109],
  'waf_block, 1000_errors': [1010, 1011, 1020, 1050],
  'ratelimit_block, 1000_errors': [1015, 1025, 1027],
  '1000_errors': [
    1000, 1002, 1004, 1013, 1014, 1016, 1017, 1021, 1022, 1024, 1026, 1028, 1029, 1030, 1031, 1032, 1033,
    1034, 1039, 1042, 1044, 1045, 1047, 1048, 1051, 1053,
  ],
}

test('every error of the catalogue has the pages of the table, and no other', () => {
  const typesByCode = new Map(
    Object.entries(expected).flatMap(([types, codes]) => codes.map(code => [code, types] as const)),
  )
  for (const name of names) {
    const { code } = errorRows[name]
    assert.equal(pageTypesOf(name).join(', '), typesByCode.get(code) ?? '', `${code} ${name}`)
  }
})

test('no page stands for 500, 501, 503 and 505, nor for hosts that no zone has', () => {
  for (const name of names) {
    const { code, status } = errorRows[name]
    const never = [500, 501, 503, 505].includes(status) || [1001, 1003, 1018, 1023].includes(code)
    if (never) assert.deepEqual(pageTypesOf(name), [], name)
    else if (code >= 1000) assert.ok(pageTypesOf(name).includes('1000_errors'), name)
  }
})

test('each page is found for its errors alone, and the specific one before 1000_errors of the same level', () => {
  for (const name of names)
    for (const type of errorPageTypes) {
      const alone = new CustomErrors([{ rules: [], pages: { [type]: type } }])
      assert.equal(alone.findPage(name)?.page ?? null, pageTypesOf(name).includes(type) ? type : null)
      const beside = { [type]: type, '1000_errors': 'all' }
      const first = new CustomErrors([{ rules: [], pages: beside }]).findPage(name)?.page ?? null
      assert.equal(first, firstOf(name, type))
    }
})

function firstOf(name: ErrorName, type: ErrorPageType): ErrorPageType | null {
  return pageTypesOf(name).find(known => known === type || known === '1000_errors') ?? null
}

test('1000_errors of the zone comes before the specific page of the account', () => {
  const zone = { rules: [], pages: { '1000_errors': 'zone' } }
  const account = { rules: [], pages: { ip_block: 'account' } }
  assert.equal(new CustomErrors([zone, account]).findPage('ip_banned')?.source, 'zone_page')
  assert.equal(new CustomErrors([account, zone]).findPage('ip_banned')?.page, 'ip_block')
})
