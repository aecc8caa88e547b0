/** The channels of messages. */
export const channels = [
	'email',
	'sms',
	'whatsapp',
	'messenger',
	'instagram',
	'telegram',
	'webchat',
	'voice',
	'other',
] as const;
