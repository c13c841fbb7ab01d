// HTTP/1.1 by the letter, and WebSocket through a tunnel: cases from RFC 9112, RFC 9110 and RFC 6455, sent byte by byte.
// node test/conformance/http1.ts [--target gatehouse|nginx|haproxy|caddy] [--tls] [--runs N] [--only SECTION] [--verbose]
//
// Ends with code 1 unless all pass.

import { RawOrigin } from './http1/origin.ts'
import { http1Cases, runHttp1Case } from './http1/run.ts'
import { optionsOf, runCases } from './run.ts'
import { startTarget } from './targets.ts'

const options = optionsOf(http1Cases)
const { tls } = options
const origin = await new RawOrigin().listen()
const target = await startTarget(options.target, { routes: [{ path: '/', port: origin.port }], version: 1 })
const port = tls ? target.ports.tls : target.ports.http1

await runCases(
  http1Cases,
  options,
  target,
  ({ expectation }) => expectation.words,
  (of, from) => runHttp1Case(of, origin, { port, tls, from }),
)
origin.close()
await target.stop()
