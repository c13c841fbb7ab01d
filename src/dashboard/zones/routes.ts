// The pages of zones.

import type { Route } from '../page/page-request.ts'
import { moveRule, showOrder, showRules } from './access-rules.ts'
import { showCertificates } from './certificates.ts'
import { explain, showExplain } from './explain.ts'
import { showLimits } from './limits.ts'
import { showZones } from './list.ts'
import { showMcp } from './mcp.ts'
import { showZone } from './zone-page.ts'
import { showOrigins } from './origins.ts'
import { changeRule, confirmDeletion, createRule, deleteRule, showNewRule, showRule } from './rule-editing.ts'

const zones = '/dashboard/{account}/zones'
const zone = `${zones}/{zone}`
const rules = `${zone}/rules`
const writing = { permission: 'Access Rules Write' } as const

export const zoneRoutes: readonly Route[] = [
  { path: zones, permission: 'Zones Read', show: showZones },
  { path: zone, permission: 'Zones Read', show: showZone },
  { path: `${zone}/limits`, permission: 'Zones Read', show: showLimits },
  { path: `${zone}/mcp`, permission: 'Zones Read', show: showMcp },
  { path: `${zone}/origins`, permission: 'Origins Read', show: showOrigins },
  { path: `${zone}/certificates`, permission: 'Zones Read', show: showCertificates },
  {
    path: `${zone}/explain`,
    permission: 'Access Rules Read',
    show: showExplain,
    effect: 'tries',
    take: explain,
  },
  { path: rules, permission: 'Access Rules Read', show: showRules },
  { path: `${rules}/new`, ...writing, show: showNewRule, effect: 'opens', take: createRule },
  { path: `${rules}/order`, ...writing, show: showOrder, effect: 'opens', take: moveRule },
  { path: `${rules}/{rule}`, ...writing, show: showRule, effect: 'opens', take: changeRule },
  {
    path: `${rules}/{rule}/delete`,
    ...writing,
    show: confirmDeletion,
    effect: 'ends',
    take: deleteRule,
  },
]
