// The pages of zones.

import type { Route } from '../ask.ts'
import { showLimits } from './limits.ts'
import { showZones } from './list.ts'
import { showZone } from './one-zone.ts'
import { showOrigins } from './origins.ts'

const zones = '/dashboard/{account}/zones'
const zone = `${zones}/{zone}`

export const zoneRoutes: readonly Route[] = [
  { path: zones, permission: 'Zones Read', show: showZones },
  { path: zone, permission: 'Zones Read', show: showZone },
  { path: `${zone}/limits`, permission: 'Zones Read', show: showLimits },
  { path: `${zone}/origins`, permission: 'Origins Read', show: showOrigins },
]
