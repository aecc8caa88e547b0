import { z } from 'zod/v4';
import { about, calendarDate, choice, currency, instant, number, optional, pointInTime, readOnly } from './fields.ts';
import { reference, references, requiredText, text } from './fields.ts';
import { sharedFields, systemFields } from './record.ts';
import { exampleId } from './request-examples.ts';
import { stageKinds } from './stages.ts';

export const lostReason = text(about('Reason the deal was lost.', 'Chose a cheaper offer'), 1000);

export const dealFields = {
	title: requiredText(255).meta(about('Name of the deal.', 'Fleet telematics for Altamira Logistics')),
	pipeline_id: reference('pipelines', about('The pipeline of the deal; by default, the default pipeline.', exampleId('pip'))),
	stage_id: optional(
		z.string().min(1).max(64),
		about('A stage of the pipeline; by default, its first open one.', undefined, { 'x-item-of': 'pipelines.stages' }),
	),
	status: z.enum(stageKinds).meta(readOnly('The kind of the stage: open, won or lost.', 'open')),
	amount: number(about('Value of the deal, in its currency.', 24500)),
	currency: currency(about('Three-letter currency code; by default, that of the pipeline.', 'EUR')),
	probability: optional(
		z.number().min(0).max(100),
		about('Probability in percent that the deal is won; by default, that of the stage.', 60),
	),
	expected_close_date: optional(calendarDate, about('Date a decision is expected.', '2025-09-30')),
	company_id: reference('companies', about('The company the deal is with.', exampleId('com'))),
	contact_id: reference('contacts', about('The main contact.', exampleId('con'))),
	contact_ids: references('contacts', about('Everyone involved, including the main contact.', [exampleId('con')])),
	lost_reason: lostReason,
	source: choice(
		['website', 'referral', 'event', 'advertising', 'cold_outreach', 'partner', 'other'],
		about('Source of the deal.', 'referral'),
	),
	stage_entered_at: pointInTime.meta(readOnly('Time the deal entered its stage.', '2025-03-01T09:30:00.000Z')),
	closed_at: instant(readOnly('Time the deal was won or lost.')),
	...sharedFields,
	...systemFields('deal'),
};

export type Deal = z.output<z.ZodObject<typeof dealFields>>;
