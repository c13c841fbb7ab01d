// Why a connection to an origin has failed.

import { type ErrorCode, errorCode } from '../frames/frames.ts'

export type SessionFault =
  | 'protocol'
  | 'compression'
  | 'flow_control'
  | 'frame_size'
  | 'head_too_large'
  | 'flood'
  | 'silence'

/** By the code of the broken rule (RFC 9113 section 7). */
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
