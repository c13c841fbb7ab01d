// Runs cases of HTTP/1.1, each on a connection of its own.

import type { Verdict } from '../case.ts'
import type { Address } from '../dial.ts'
import { requestCases } from './cases/requests.ts'
import { responseCases } from './cases/responses.ts'
import { upgradeCases } from './cases/upgrades.ts'
import { RawClient } from './client.ts'
import type { Http1Case } from './expect.ts'
import type { RawOrigin } from './origin.ts'

export const http1Cases: readonly Http1Case[] = [...requestCases, ...responseCases, ...upgradeCases]

let last = 0

export async function runHttp1Case(of: Http1Case, origin: RawOrigin, address: Address): Promise<Verdict> {
  const number = ++last
  const path = `/${number}/`
  if (of.script !== null) origin.scripts.set(`${path}main`, of.script)
  const client = new RawClient(address)
  try {
    client.send(of.bytes(path))
    const verdict = await of.expectation.verdict({ client, origin, number })
    const stray = origin.strays.get(number)
    return stray === undefined
      ? verdict
      : { result: 'failed', note: `no request came to the origin: ${stray}` }
  } finally {
    client.close()
  }
}
