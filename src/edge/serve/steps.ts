// The life of a request. Serving, explanations, spans and the documentation follow this table.

import { authenticate } from '../ai/authenticate.ts'
import { protect } from '../protect/protect.ts'
import { openLog } from '../ai/open-log.ts'
import { inspect } from '../guard/inspect.ts'
import { claim } from '../answers/claim.ts'
import { recall } from '../answers/recall.ts'
import { reserve } from '../meter/reserve-attempt.ts'
import { understand } from '../mcp/understand.ts'
import { permit } from '../mcp/permit.ts'
import { bound } from '../steps/bound.ts'
import { describe } from '../steps/describe.ts'
import type { Step } from '../exchange/exchange.ts'
import { forward } from '../forward/forward-http.ts'
import { meter } from '../meter/meter.ts'
import { meterGateway } from '../meter/meter-gateway.ts'
import { admit } from '../steps/admit.ts'
import { examine } from '../steps/examine.ts'
import { locate } from '../steps/locate.ts'
import { plan } from '../steps/plan.ts'
import { preview } from '../steps/preview.ts'
import { secure } from '../steps/secure.ts'

interface NamedStep {
  readonly name: string
  readonly title: string
  readonly decide: Step
}

export const steps = [
  { name: 'examine', title: 'HTTP', decide: examine },
  { name: 'locate', title: 'Host and route', decide: locate },
  { name: 'secure', title: 'TLS', decide: secure },
  { name: 'admit', title: 'Access rules', decide: admit },
  { name: 'meter', title: 'Rate limits and quotas', decide: meter },
  { name: 'preview', title: 'Error preview', decide: preview },
  { name: 'describe', title: 'Metadata', decide: describe },
  { name: 'protect', title: 'Gates of the route', decide: protect },
  { name: 'authenticate', title: 'Credentials of the gateway', decide: authenticate },
  { name: 'bound', title: 'Body size and loops', decide: bound },
  { name: 'understand', title: 'Message to an MCP server', decide: understand },
  { name: 'permit', title: 'Rules of the MCP server', decide: permit },
  { name: 'meterGateway', title: 'Rate limit of the gateway', decide: meterGateway },
  { name: 'openLog', title: 'Log of the AI call', decide: openLog },
  { name: 'plan', title: 'Origin', decide: plan },
  { name: 'claim', title: 'Idempotency-Key', decide: claim },
  { name: 'reserve', title: 'Spend limits', decide: reserve },
  { name: 'inspect', title: 'Guard on the request', decide: inspect },
  { name: 'recall', title: 'Reuse of AI responses', decide: recall },
  { name: 'forward', title: 'Request to the origin', decide: forward },
] as const satisfies readonly NamedStep[]

export type StepName = (typeof steps)[number]['name']
