/** Requests per minute by plan. Enterprise limits are negotiated; this one is the sandbox's choice. */
export const plans = { starter: 1_000, pro: 5_000, enterprise: 20_000 } as const;

export type Plan = keyof typeof plans;

export const planNames = Object.keys(plans) as Plan[];
