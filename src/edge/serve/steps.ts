// The steps of a request one by one and by name, for explanations: on the way of a request they are joined into lines, which cost less.

import { admit } from '../steps/admit.ts'
import { authenticate } from '../ai/authenticate.ts'
import { describe } from '../ai/metadata.ts'
import { openLog } from '../ai/open-log.ts'
import { bound } from '../exchange/bounds.ts'
import { examine } from '../steps/examine.ts'
import type { Step } from '../exchange/exchange.ts'
import { locate } from '../steps/locate.ts'
import { meterGateway } from '../meter/meter-gateway.ts'
import { meter } from '../meter/meter.ts'
import { plan } from '../steps/plan.ts'
import { preview } from '../steps/preview.ts'
import { secure } from '../steps/secure.ts'

/** The steps that decide, in their order; the last step, `forward`, only does what they have decided. */
export const decidingSteps = {
  examine,
  locate,
  secure,
  admit,
  meter,
  preview,
  describe,
  authenticate,
  bound,
  meterGateway,
  openLog,
  plan,
} as const satisfies Readonly<Record<string, Step>>

export type StepName = keyof typeof decidingSteps | 'forward'

/** What each step looks at, in a few words; in their order. */
export const stepTitles: Readonly<Record<StepName, string>> = {
  examine: 'HTTP',
  locate: 'Host and route',
  secure: 'TLS',
  admit: 'Access rules',
  meter: 'Rate limits and quotas',
  preview: 'Error preview',
  describe: 'Metadata of AI routes',
  authenticate: 'Credentials of the gateway',
  bound: 'Body size and loops',
  meterGateway: 'Rate limit of the gateway',
  openLog: 'Log of the AI call',
  plan: 'Origin',
  forward: 'Request to the origin',
}
