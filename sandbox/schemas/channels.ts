/** The ways in which messages come and go. */
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
