// Why a connection to an origin has failed, and the code that the origin gets (RFC 9113 section 7).

import { type ErrorCode, errorCode } from '../frames/frames.ts'

/** What the origin sent, or did not send. */
export type SessionFault =
  | 'protocol'
  | 'compression'
  | 'flow_control'
  | 'frame_size'
  | 'head_too_large'
  | 'flood'
  | 'silence'

/** The fault for the code of a broken rule. */
export const faultOf: Readonly<Record<ErrorCode, SessionFault>> = {
  [errorCode.frameSize]: 'frame_size',
  [errorCode.flowControl]: 'flow_control',
  [errorCode.enhanceYourCalm]: 'flood',
}

export const codeOf: Readonly<Record<SessionFault, ErrorCode>> = {
  protocol: errorCode.protocol,
  compression: errorCode.compression,
  flow_control: errorCode.flowControl,
  frame_size: errorCode.frameSize,
  head_too_large: errorCode.enhanceYourCalm,
  flood: errorCode.enhanceYourCalm,
  silence: errorCode.settingsTimeout,
}
