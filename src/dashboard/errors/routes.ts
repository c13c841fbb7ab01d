// The pages about errors.

import type { Route } from '../page/page-request.ts'
import { frameError, showCode, showCodes } from './codes.ts'
import { confirmPageRemoval, framePage, removePage, showPage } from './error-pages.ts'
import { showRecentErrors } from './recent-errors.ts'
import { frameDraft, setPage, showPageForm } from './page-form.ts'
import { changeRule, createRule, frameRule, showNewRule, showRuleForm } from './rule-form.ts'
import { confirmRuleDeletion, deleteRule, showRule } from './rule-page.ts'
import { orderRules, showZone } from './zone-page.ts'

const reading = { permission: 'Custom Errors Read' } as const
const writing = { permission: 'Custom Errors Write' } as const

const errors = '/dashboard/{account}/errors'
const code = `${errors}/codes/{code}`
const zone = `${errors}/zones/{zone}`
const rule = `${zone}/rules/{errorrule}`
const page = `${zone}/pages/{type}`

export const errorRoutes: readonly Route[] = [
  { path: errors, permission: 'Analytics Read', show: showRecentErrors },
  { path: `${errors}/codes`, ...reading, show: showCodes },
  { path: code, ...reading, show: showCode },
  { path: zone, ...reading, show: showZone },
  { path: `${zone}/codes/{code}/preview`, ...reading, show: frameError },
  { path: `${zone}/rules/new`, ...writing, show: showNewRule, effect: 'opens', take: createRule },
  { path: `${zone}/rules/new/preview`, ...writing, effect: 'tries', take: frameRule, isBesideForm: true },
  { path: `${zone}/rules/order`, ...writing, effect: 'sets', take: orderRules },
  { path: rule, ...reading, show: showRule },
  { path: `${rule}/edit`, ...writing, show: showRuleForm, effect: 'opens', take: changeRule },
  { path: `${rule}/edit/preview`, ...writing, effect: 'tries', take: frameRule, isBesideForm: true },
  { path: `${rule}/delete`, ...writing, show: confirmRuleDeletion, effect: 'ends', take: deleteRule },
  { path: page, ...reading, show: showPage },
  { path: `${page}/preview`, ...reading, show: framePage },
  { path: `${page}/edit`, ...writing, show: showPageForm, effect: 'opens', take: setPage, hasFiles: true },
  {
    path: `${page}/edit/preview`,
    ...writing,
    effect: 'tries',
    take: frameDraft,
    hasFiles: true,
    isBesideForm: true,
  },
  { path: `${page}/delete`, ...writing, show: confirmPageRemoval, effect: 'ends', take: removePage },
]
