// Which cookies stay at home, however they are spelt, and that all others go on byte for byte.

import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  ownCookieIn,
  ownCookies,
  setsOwnCookie,
  withoutOwnCookies,
} from '../../../src/http1/fields/own-cookies.ts'
import { cpuTime } from '../../help/stall.ts'

const names = Object.values(ownCookies).flatMap(name => [name, `__Host-${name}`, `__Secure-${name}`])

const cookies: readonly (readonly [came: string, goes: string | null])[] = [
  ['gatehouse=s', null],
  ['gatehouse', null],
  ['gatehouse=', null],
  ['gatehouse=s; gatehouse=t', null],
  [' ;; gatehouse=s ; ', null],
  ['a=1; gatehouse=s; b=2', 'a=1; b=2'],
  ['a=1;gatehouse=s;b=2', 'a=1;b=2'],
  ['gatehouse=s; a=1', 'a=1'],
  ['gatehouse=s;a="1;2" ;;b', 'a="1;2" ;;b'],
  ['a=1; gatehouse=s;', 'a=1;'],
  ['a=1;\t gatehouse \t= s; b=2', 'a=1; b=2'],
  ['a=1; "gatehouse"="s"; b=2', 'a=1; b=2'],
  ['a=1; =gatehouse=s; b=2', 'a=1; b=2'],
  ['$Version="1"; gatehouse="s"; $Path="/"; $Domain=a; b=2; $Path=/b', '$Version="1"; b=2; $Path=/b'],
  ['a=1, gatehouse=s', 'a=1'],
  ['a=1,gatehouse=s,b=2', 'a=1,b=2'],
  ['x="; gatehouse=s; y="', 'x="; y="'],
  ['gatehouse=s; ; a=1; b=2', 'a=1; b=2'],
  ['a=1,gatehouse=s,gatehouse', 'a=1'],
  ['gatehouse=s; b=2; $Path=/b; gatehouse=t', 'b=2; $Path=/b'],
  // Others, whatever is like ours in them.
  ['', ''],
  ['; ', '; '],
  ['; a=gatehouse', '; a=gatehouse'],
  ['a=1; agatehouse=s', 'a=1; agatehouse=s'],
  ['gatehouse2=s; gatehouse-=s; gatehouse.visit=s', 'gatehouse2=s; gatehouse-=s; gatehouse.visit=s'],
  ['a=gatehouse; b=gatehouse=s', 'a=gatehouse; b=gatehouse=s'],
  ['Gatehouse=s', 'Gatehouse=s'],
  ['__Hostgatehouse=s', '__Hostgatehouse=s'],
  ['list=a,gatehouse,b; c=1', 'list=a,gatehouse,b; c=1'],
  ['list=gatehouse, gatehouse-visit; gatehouse=s; c=1', 'list=gatehouse, gatehouse-visit; c=1'],
  ['gatehouse=s; $a=1; $Path_=2; b=2', '$a=1; $Path_=2; b=2'],
  // No reader of cookies takes a no-break space for a blank, so it is part of a name.
  ['\xa0gatehouse=p; gatehouse=s', '\xa0gatehouse=p'],
  ['gatehouse=s; \xa0gatehouse=p', '\xa0gatehouse=p'],
  ['\xa0; gatehouse=s', '\xa0'],
  // What only looks like a member of such a list.
  [',gatehouse', null],
  ['gatehouse=s,gatehouse', null],
  ['a=1,gatehouse=s', 'a=1'],
  ['a=1; gatehouse', 'a=1'],
]
for (const [came, goes] of cookies)
  test(`of Cookie: ${came} goes on ${goes ?? 'nothing'}`, () => equal(withoutOwnCookies(came), goes))

const sets: readonly (readonly [value: string, isOwn: boolean])[] = [
  ['gatehouse=s; Path=/', true],
  ['gatehouse=; Max-Age=0', true],
  ['gatehouse', true],
  ['gatehouse; Path=/', true],
  [' gatehouse\t= s', true],
  ['=gatehouse=s', true],
  ['"gatehouse"=s', true],
  ['a=gatehouse; Path=/', false],
  ['a=1; gatehouse=s', false],
  ['Gatehouse=s', false],
  ['a', false],
  ['', false],
]
for (const [value, isOwn] of sets)
  test(`Set-Cookie: ${value} sets ${isOwn ? 'a cookie of this gateway' : 'another'}`, () => {
    equal(setsOwnCookie(value), isOwn)
  })

test('every name stays at home, with and without each prefix', () => {
  equal(names.length, 18)
  for (const name of names) {
    equal(withoutOwnCookies(`a=1; ${name}=s; b=2`), 'a=1; b=2', name)
    equal(setsOwnCookie(`${name}=s; Path=/; HttpOnly`), true, name)
  }
})

test('one of ours is read only where it comes once, whatever else comes with it', () => {
  const name = '__Host-gatehouse-site'
  for (const values of [[], [''], ['a=b'], [`${name}`], [`${name}=a; ${name}=b`], [`${name}=a`, `${name}=a`]])
    equal(ownCookieIn(values, name), null)
  const text = fc.string({ unit: fc.constantFrom('a', 'B', ' ', '\t', '"', ';', '=', '-', 'gatehouse-site') })
  fc.assert(
    fc.property(fc.array(text, { maxLength: 3 }), fc.array(text, { maxLength: 3 }), (before, after) => {
      const others = [...before, ...after].join(';')
      equal(ownCookieIn([...before, `${name}=v`, ...after], name), 'v')
      equal(ownCookieIn([`${before.join(';')};${name}=v;${after.join(';')}`], name), 'v')
      equal(ownCookieIn([`${others};${name}=v;${name}=w`], name), null)
      equal(ownCookieIn([others], name), null)
    }),
  )
})

test('one of ours is what splitting at semicolons finds', () => {
  const name = 'gatehouse-site'
  const value = fc.string({ unit: fc.constantFrom('a', ' ', '\t', ';', '=', '=v', name) })
  fc.assert(
    fc.property(fc.array(value, { maxLength: 3 }), values => {
      const pairs = values
        .flatMap(value => value.split(';'))
        .map(pair => pair.replace(/^[ \t]+|[ \t]+$/g, ''))
      const own = pairs.filter(pair => pair.startsWith(`${name}=`)).map(pair => pair.slice(name.length + 1))
      equal(ownCookieIn(values, name), own.length === 1 ? own[0] : null)
    }),
    { numRuns: 1000 },
  )
})

test('among any cookies exactly ours are left out, and what was left out once stays out', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'B', ' ', '\t', '"', '=', '$', '_', '-', '\xe9') })
  const other = fc.tuple(text, text).map(([name, value]) => `x${name}=${value}`)
  const own = fc.tuple(fc.constantFrom(...names), text).map(([name, value]) => `${name}=${value}`)
  const pairs = fc.array(fc.oneof(other, own), { maxLength: 8 })
  fc.assert(
    fc.property(pairs, pairs => {
      const others = pairs.filter(pair => pair.startsWith('x'))
      const kept = withoutOwnCookies(pairs.join('; '))
      equal(kept, others.length === 0 && pairs.length > 0 ? null : others.join('; '))
      if (kept !== null) equal(withoutOwnCookies(kept), kept)
    }),
  )
  const any = fc.string({ unit: fc.constantFrom('gatehouse', '=', ';', ',', ' ', '"', '$', 'a', '__Host-') })
  fc.assert(
    fc.property(any, came => {
      const kept = withoutOwnCookies(came)
      // What the pages read (RFC 6265 section 5.4) is never among it.
      for (const pair of kept?.split(';') ?? []) equal(names.includes(pair.split('=')[0]!.trim()), false)
      if (kept !== null) equal(withoutOwnCookies(kept), kept)
    }),
    { numRuns: 2000 },
  )
})

test('long values of nothing but blanks, quotes or separators cost no more than their length', () => {
  for (const filler of [' ', '"', '=', ';', ',', '\t', '$']) {
    const value = `gatehouse${filler.repeat(100_000)}a`
    const took = cpuTime(() => {
      withoutOwnCookies(value)
      setsOwnCookie(value)
    })
    equal(took < 1_000, true, filler)
  }
})
