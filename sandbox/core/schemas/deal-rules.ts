import type { JsonObject } from '../foundation/json.ts';
import { type Deal, lostReason } from './deal-fields.ts';
import { entersStatus, type RuleContext } from './resource.ts';
import { type Stage, stagesOf } from './stages.ts';

const isNot = (kind: Stage['kind']) => ({ status }: Deal): boolean => status !== kind;

export const dealActions = {
	win: {
		summary: 'Win a deal',
		description: 'Moves the deal to the first won stage of its pipeline.',
		isPossible: isNot('won'),
		change: (deal: Deal, _input: unknown, context: RuleContext) => ({
			...moveTo('won', deal, context),
			lost_reason: null,
		}),
	},
	lose: {
		summary: 'Lose a deal',
		description: 'Moves the deal to the first lost stage of its pipeline.',
		isPossible: isNot('lost'),
		input: { lost_reason: lostReason },
		change: (deal: Deal, { lost_reason: reason }: JsonObject, context: RuleContext) => ({
			...moveTo('lost', deal, context),
			lost_reason: (reason as string | null) ?? deal.lost_reason,
		}),
	},
	reopen: {
		summary: 'Reopen a deal',
		description: 'Moves the deal back to the first open stage of its pipeline.',
		isPossible: isNot('open'),
		change: (deal: Deal, _input: unknown, context: RuleContext) => ({
			...moveTo('open', deal, context),
			lost_reason: null,
		}),
	},
};

/** Moves a deal to the first stage of this kind, unless it is in such a stage already. */
function moveTo(kind: Stage['kind'], deal: Deal, { find }: RuleContext) {
	if (deal.status === kind) return { stage_id: deal.stage_id };
	const stages = stagesOf(find('pipelines', deal.pipeline_id!));
	return { stage_id: stages.find((stage) => stage.kind === kind)!.id };
}

/** The events of a deal besides created, updated and deleted. */
export const dealEvents = {
	stage_changed: {
		description: 'A deal was moved to another stage.',
		when: (deal: Deal, previous: Deal | undefined) => previous !== undefined && deal.stage_id !== previous.stage_id,
	},
	won: entersStatus('won', 'A deal was won.'),
	lost: entersStatus('lost', 'A deal was lost.'),
	reopened: {
		description: 'A won or lost deal was reopened.',
		when: (deal: Deal, previous: Deal | undefined) =>
			previous !== undefined && deal.status === 'open' && previous.status !== 'open',
	},
};
