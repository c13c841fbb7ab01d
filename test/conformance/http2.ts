// HTTP/2 by the letter: cases from RFC 9113, RFC 8441 and RFC 7541, sent frame by frame.
// node test/conformance/http2.ts [--target gatehouse|nginx|haproxy|caddy] [--tls] [--runs N] [--only SECTION] [--verbose]
//
// Ends with code 1 unless all pass.

import { http2Cases, runHttp2Case } from './http2/run.ts'
import { optionsOf, runCases } from './run.ts'

const options = optionsOf()
const other = options.tls ? 'plain' : 'tls'

await runCases(
  http2Cases.filter(({ only }) => only !== other),
  options,
  ({ expectation }) => expectation.words,
  (of, { ports }, from) =>
    runHttp2Case(of, { port: options.tls ? ports.tls : ports.h2c, tls: options.tls, from }),
)
