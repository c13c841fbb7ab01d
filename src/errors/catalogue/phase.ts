// What an exchange with an origin is doing, in order: a failure means something else in each.

export type Phase = 'resolve' | 'connect' | 'handshake' | 'send' | 'wait' | 'receive'
