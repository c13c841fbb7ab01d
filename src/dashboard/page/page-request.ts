// A request for a page of the dashboard: what handlers are given, and what they return.

import type { Html } from '../../base/text/html.ts'
import type { Actor } from '../../people/sign-in/own-account.ts'
import type { ClientInfo } from '../../people/records/client-info.ts'
import type { Permission } from '../../permissions/permit.ts'
import type { Form } from '../../pages/forms/form.ts'
import type { FormFrame } from '../../pages/parts/components.ts'
import type { PageResponse } from '../../pages/parts/layout.ts'
import type { Api, Failure } from './api-client.ts'
import type { GatewayEndpoint } from './gateway-endpoint.ts'

/** What handlers get. */
export interface PageRequest {
  readonly path: string
  /** What the `{name}` segments of the path stand for, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Empty unless a form was sent. */
  readonly form: Form
  /** Who is signed in. */
  readonly actor: Actor
  /** The account of the path, whose member that is. */
  readonly account: { readonly id: string; readonly name: string }
  /** The sections of the dashboard that this person may see there. */
  readonly sections: readonly SectionLink[]
  /** The management API, as this person may ask it. */
  readonly api: Api
  readonly client: ClientInfo
  /** Whether the response is shown by itself, and not in a frame of one of our pages. */
  readonly isAlone: boolean
  /** Ms since the epoch. */
  readonly now: number
  /** Where people reach the pages, without a slash at the end. */
  readonly origin: string
  /** The URL of the authorization server. */
  readonly issuer: string
  /** Where AI gateways are called; null where the configuration has no host for them. */
  readonly gatewayEndpoint: GatewayEndpoint | null
  /** Shows the person the first steps in this account no more. */
  hideFirstSteps(): Promise<void>
  /** Whether the person may do this in the account: what they may not is not drawn. */
  may(permission: Permission): boolean
  /** Returns where a frame gets a path from, with a proof for browsers that do not say that it is one. */
  framePathOf(path: string): string
  /** Returns what a form that leads to a path begins with. */
  frameFor(path: string): FormFrame
}

/** A page, without the frame that all of them share. */
export interface View {
  readonly title: string
  readonly content: Html
  /** 200 by default; 422 where a form has faults. */
  readonly status?: number
  /** The pages above this one, from the section down. */
  readonly crumbs?: readonly Crumb[]
  /** What is done from here, beside the title. */
  readonly actions?: Html
  /** Whether it shows pictures of other sites, over https. */
  readonly hasPictures?: boolean
  /** Whether it has a frame with a page of this origin, which is sandboxed. */
  readonly hasFrames?: boolean
  /** Whether it needs the width of the screen: lists do, forms and texts do not. */
  readonly isWide?: boolean
}

export interface Crumb {
  readonly title: string
  readonly path: string
}

/** A section, and the place of its operations in the list of those of the API. */
export interface SectionLink extends Crumb {
  readonly api: string
  readonly guide: string
}

/** A failure of the API becomes a page that says so. */
export type Handler = (request: PageRequest) => Promise<View | PageResponse | Failure>

/** What a form does; what opens or ends something is taken only with a proof of who sends it that is not older than 30 minutes. */
export type Effect =
  /** Lets somebody in or do more, or shows visitors of a site something else: members, roles, tokens, clients, access rules, error content, gateways. */
  | 'opens'
  /** Takes away what does not come back as it was: what is deleted, revoked, signed out or replaced. */
  | 'ends'
  /** Changes what can be set back, and lets nobody in. */
  | 'sets'
  /** Changes nothing: a preview, a test, a step before the last one. */
  | 'tries'

/** A page: who may see it, and what it shows. */
interface ShownPage {
  /** Steps such as `{token}` stand for any. */
  readonly path: string
  /** Who lacks it in the account gets 404, as for what there is not; null where each member may. */
  readonly permission: Permission | null
  /** GET, which changes nothing. */
  readonly show?: Handler
}

/** A page that takes a form, or where one leads. */
interface FormPage extends ShownPage {
  /** POST, with a form of one of our pages. */
  readonly take: Handler
  readonly effect: Effect
  /** Whether it takes the form of the page one step above, which has a button that leads here. */
  readonly isBesideForm?: boolean
  /** Whether the form may have files, of 2 MB together. */
  readonly hasFiles?: boolean
}

export type Route =
  | FormPage
  | (ShownPage & { readonly [Name in Exclude<keyof FormPage, keyof ShownPage>]?: never })
