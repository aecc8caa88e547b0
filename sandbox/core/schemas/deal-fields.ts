import { z } from 'zod/v4';
import {
	calendarDate,
	choice,
	currency,
	instant,
	number,
	optional,
	pointInTime,
	reference,
	references,
	requiredText,
	text,
} from './fields.ts';
import { sharedFields, systemFields } from './record.ts';
import { exampleId } from './request-examples.ts';
import { stageKinds } from './stages.ts';

export const lostReason = text(
	{ title: 'Lost Reason', description: 'Reason the deal was lost.', examples: ['Chose a cheaper offer'] },
	1000,
);

export const dealFields = {
	title: requiredText(255).meta({
		title: 'Title',
		description: 'Name of the deal.',
		examples: ['Fleet telematics for Altamira Logistics'],
	}),
	pipeline_id: reference('pipelines', {
		title: 'Pipeline',
		description: 'The pipeline of the deal; by default, the default pipeline.',
		examples: [exampleId('pip')],
	}),
	stage_id: optional(z.string().min(1).max(64), {
		title: 'Stage',
		description: 'A stage of the pipeline; by default, its first open one.',
		'x-item-of': 'pipelines.stages',
	}),
	status: z.enum(stageKinds).meta({
		title: 'Status',
		description: 'The kind of the stage: open, won or lost.',
		examples: ['open'],
		readOnly: true,
	}),
	amount: number({ title: 'Amount', description: 'Value of the deal, in its currency.', examples: [24500] }),
	currency: currency({
		title: 'Currency',
		description: 'Three-letter currency code; by default, that of the pipeline.',
		examples: ['EUR'],
	}),
	probability: optional(z.number().min(0).max(100), {
		title: 'Probability',
		description: 'Probability in percent that the deal is won; by default, that of the stage.',
		examples: [60],
	}),
	expected_close_date: optional(calendarDate, {
		title: 'Expected Close Date',
		description: 'Date a decision is expected.',
		examples: ['2025-09-30'],
	}),
	company_id: reference('companies', { title: 'Company', description: 'The company the deal is with.', examples: [exampleId('com')] }),
	contact_id: reference('contacts', { title: 'Contact', description: 'The main contact.', examples: [exampleId('con')] }),
	contact_ids: references('contacts', {
		title: 'Contacts',
		description: 'Everyone involved, including the main contact.',
		examples: [[exampleId('con')]],
	}),
	lost_reason: lostReason,
	source: choice(
		['website', 'referral', 'event', 'advertising', 'cold_outreach', 'partner', 'other'],
		{ title: 'Source', description: 'Source of the deal.', examples: ['referral'] },
	),
	stage_entered_at: pointInTime.meta({
		title: 'Stage Entered At',
		description: 'Time the deal entered its stage.',
		examples: ['2025-03-01T09:30:00.000Z'],
		readOnly: true,
	}),
	closed_at: instant({ title: 'Closed At', description: 'Time the deal was won or lost.', readOnly: true }),
	...sharedFields,
	...systemFields('deal'),
};

export type Deal = z.output<z.ZodObject<typeof dealFields>>;
