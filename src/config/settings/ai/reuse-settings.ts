// How much of responses to AI calls is stored: what one takes must fit into what all may take.

import { GiB, MiB } from '../../../base/units.ts'
import type { Findings } from '../../file/mistake.ts'
import type { ReuseConfig } from '../../model/config.ts'
import type { Placed } from '../../shape/shape.ts'

interface ReuseSettings {
  readonly response: Placed<number> | null
  readonly gateway: Placed<number> | null
  readonly total: Placed<number> | null
  readonly memory: number
}

const fits = 'does not fit: one response fits into those of a gateway, and these into the total'
const usual = { response: 10 * MiB, gateway: 256 * MiB, total: GiB }

export function resolveReuse(settings: ReuseSettings, findings: Findings): ReuseConfig {
  const { response, gateway, total } = settings
  const reuse = {
    response: response?.value ?? usual.response,
    gateway: gateway?.value ?? usual.gateway,
    total: total?.value ?? usual.total,
    memory: settings.memory,
  }
  if (reuse.response > reuse.gateway) findings.flaw((response ?? gateway)!, fits)
  if (reuse.gateway > reuse.total) findings.flaw((gateway ?? total)!, fits)
  return reuse
}
