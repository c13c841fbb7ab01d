// The pages of members, of what they allowed apps to do, and of what the account asks of them.

import type { Route } from '../ask.ts'
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

const members = '/dashboard/{account}/members'
const member = `${members}/{member}`
const apps = '/dashboard/{account}/apps'

export const memberRoutes: readonly Route[] = [
  { path: members, permission: 'Members Read', show: showMembers },
  {
    path: `${members}/new`,
    permission: 'Members Write',
    show: showInvitation,
    take: inviteMember,
    isDangerous: true,
  },
  {
    path: `${members}/two-factor`,
    permission: 'Account Settings Write',
    show: showTwoFactor,
    take: changeTwoFactor,
    isDangerous: true,
  },
  { path: member, permission: 'Members Read', show: showMember },
  { path: `${member}/roles`, permission: 'Members Write', take: changeRoles, isDangerous: true },
  { path: `${member}/link`, permission: 'Members Write', take: newLink, isDangerous: true },
  {
    path: `${member}/sign-out`,
    permission: 'Members Write',
    show: confirmSignOut,
    take: signOut,
    isDangerous: true,
  },
  {
    path: `${member}/remove`,
    permission: 'Members Write',
    show: confirmRemoval,
    take: removeMember,
    isDangerous: true,
  },
  { path: apps, permission: 'Members Read', show: showApps },
  { path: `${apps}/{grant}/end`, permission: 'Members Write', show: confirmEndApp, take: endApp },
]
