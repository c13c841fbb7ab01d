// Origins that break HTTP/2, or keep to it in an unusual way: what becomes of their connections, and what clients get.
// node test/conformance/http2-origins.ts [--target gatehouse|haproxy|caddy] [--runs N] [--only SECTION] [--verbose]
//
// Ends with code 1 unless all pass.

import { originCases } from './http2-origins/cases.ts'
import { CaseOrigin, runOriginCase } from './http2-origins/run.ts'
import { optionsOf, runCases } from './run.ts'
import { startTarget } from './targets.ts'

const options = optionsOf(originCases)

for (let round = 0; round < options.runs; round++) {
  // An origin that has failed is not asked again for a while: each round has its own.
  const origins = new Map(
    await Promise.all(originCases.map(async of => [of, await new CaseOrigin(of).listen()] as const)),
  )
  const routes = [...origins.values()].map(({ port }) => ({ path: `/${port}/`, port }))
  const target = await startTarget(options.target, { routes, version: 2 })
  await runCases(
    originCases,
    { ...options, runs: 1 },
    target,
    ({ expectation }) => expectation.words,
    of => {
      const origin = origins.get(of)!
      return runOriginCase(of, origin, target.ports.http1, `/${origin.port}/`)
    },
  )
  await target.stop()
  for (const origin of origins.values()) origin.close()
}
