// The pages of API tokens.

import type { Route } from '../page/page-request.ts'
import { changeToken, confirmState, showEditToken, switchState } from './editing.ts'
import {
  confirmRevoke,
  confirmRoll,
  createToken,
  revokeToken,
  rollToken,
  showNewToken,
  showToken,
  showTokens,
} from './handlers.ts'

const tokens = '/dashboard/{account}/tokens'

export const tokenRoutes: readonly Route[] = [
  { path: tokens, permission: 'API Tokens Read', show: showTokens },
  {
    path: `${tokens}/new`,
    permission: 'API Tokens Write',
    show: showNewToken,
    effect: 'opens',
    take: createToken,
  },
  { path: `${tokens}/{token}`, permission: 'API Tokens Read', show: showToken },
  {
    path: `${tokens}/{token}/edit`,
    permission: 'API Tokens Write',
    show: showEditToken,
    effect: 'opens',
    take: changeToken,
  },
  {
    path: `${tokens}/{token}/state`,
    permission: 'API Tokens Write',
    show: confirmState,
    effect: 'opens',
    take: switchState,
  },
  {
    path: `${tokens}/{token}/roll`,
    permission: 'API Tokens Write',
    show: confirmRoll,
    effect: 'opens',
    take: rollToken,
  },
  {
    path: `${tokens}/{token}/revoke`,
    permission: 'API Tokens Write',
    show: confirmRevoke,
    effect: 'ends',
    take: revokeToken,
  },
]
