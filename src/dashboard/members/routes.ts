// The pages of members, of their grants to apps, and of the account's requirements.

import type { Route } from '../page/page-request.ts'
import { confirmEndApp, endApp, showApps } from './apps.ts'
import {
  changeRoles,
  confirmRemoval,
  confirmSignOut,
  inviteMember,
  newLink,
  removeMember,
  showInvitation,
  showMember,
  showMembers,
  signOut,
} from './handlers.ts'
import { changeTwoFactor, showTwoFactor } from './two-factor.ts'
import { changeUnregisteredApps, showUnregisteredApps } from './unregistered-apps.ts'

const members = '/dashboard/{account}/members'
const member = `${members}/{member}`
const apps = '/dashboard/{account}/apps'

export const memberRoutes: readonly Route[] = [
  { path: members, permission: 'Members Read', show: showMembers },
  {
    path: `${members}/new`,
    permission: 'Members Write',
    show: showInvitation,
    effect: 'opens',
    take: inviteMember,
  },
  {
    path: `${members}/two-factor`,
    permission: 'Account Settings Write',
    show: showTwoFactor,
    effect: 'opens',
    take: changeTwoFactor,
  },
  { path: member, permission: 'Members Read', show: showMember },
  { path: `${member}/roles`, permission: 'Members Write', effect: 'opens', take: changeRoles },
  { path: `${member}/link`, permission: 'Members Write', effect: 'opens', take: newLink },
  {
    path: `${member}/sign-out`,
    permission: 'Members Write',
    show: confirmSignOut,
    effect: 'ends',
    take: signOut,
  },
  {
    path: `${member}/remove`,
    permission: 'Members Write',
    show: confirmRemoval,
    effect: 'ends',
    take: removeMember,
  },
  { path: apps, permission: 'Members Read', show: showApps },
  {
    path: `${apps}/unregistered`,
    permission: 'Account Settings Write',
    show: showUnregisteredApps,
    effect: 'opens',
    take: changeUnregisteredApps,
  },
  {
    path: `${apps}/{grant}/end`,
    permission: 'Members Write',
    show: confirmEndApp,
    effect: 'ends',
    take: endApp,
  },
]
