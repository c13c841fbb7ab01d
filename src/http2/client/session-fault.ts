// Why a connection to an origin cannot go on, and how the origin is told so (RFC 9113 section 7).

import { type ErrorCode, errorCode } from '../frames/frames.ts'

/** For what its origin sent, or did not send. */
export type SessionFault =
  | 'protocol'
  | 'compression'
  | 'flow_control'
  | 'frame_size'
  | 'head_too_large'
  | 'flood'
  | 'silence'

/** Names a fault by the code of the rule that was broken. */
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
