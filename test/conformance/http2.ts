// HTTP/2 by the letter: cases from RFC 9113, RFC 8441 and RFC 7541, sent frame by frame.
// node test/conformance/http2.ts [--target gatehouse|nginx|haproxy|caddy] [--tls] [--runs N] [--only SECTION] [--verbose]
//
// Ends with code 1 unless all pass.

import { http2Cases, runHttp2Case } from './http2/run.ts'
import { startOrigin } from './origin.ts'
import { optionsOf, runCases } from './run.ts'
import { startTarget } from './targets.ts'

const options = optionsOf(http2Cases)
const { tls } = options
const origin = await startOrigin()
const target = await startTarget(options.target, { routes: [{ path: '/', port: origin.port }], version: 1 })
const port = tls ? target.ports.tls : target.ports.h2c

await runCases(
  http2Cases.filter(({ only }) => only !== (tls ? 'plain' : 'tls')),
  options,
  target,
  ({ expectation }) => expectation.words,
  (of, from) => runHttp2Case(of, { port, tls, from }),
)
origin.close()
await target.stop()
