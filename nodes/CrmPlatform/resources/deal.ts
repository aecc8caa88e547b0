import type { Resource } from '../model';
import { recordAction } from '../operations/recordAction';
import { recordOperations, tagOperations } from '../operations/recordOperations';
import { namedUpdate } from '../operations/update';

export const deal: Resource = {
	name: 'Deal',
	value: 'deal',
	path: '/deals',
	hasLinks: true,
	isUndoable: true,
	isPolled: true,
	operations: [
		...recordOperations('a deal', 'deals'),
		...tagOperations,
		recordAction('Lose a deal', 'lose', {
			name: 'Lose',
			value: 'lose',
			description: 'Close a deal as lost, with the reason',
			leavesTheCrm: false,
			takesValues: true,
		}),
		namedUpdate('Move a deal to a stage', {
			name: 'Move to Stage',
			value: 'moveToStage',
			description: 'Move a deal to another stage, in its own or another pipeline',
			leavesTheCrm: false,
			only: [],
			picked: [
				{
					field: 'pipeline_id',
					name: 'pipelineId',
					displayName: 'Pipeline',
					method: 'searchPipelines',
					isOptional: true,
					description: 'Optional. Narrows the list of stages to those of one pipeline.',
				},
				{
					field: 'stage_id',
					name: 'stageId',
					displayName: 'Stage',
					method: 'searchStages',
				},
			],
		}),
		recordAction('Reopen a deal', 'reopen', {
			name: 'Reopen',
			value: 'reopen',
			description: 'Reopen a closed deal or ticket, or a completed task',
			leavesTheCrm: false,
		}),
		recordAction('Win a deal', 'win', {
			name: 'Win',
			value: 'win',
			description: 'Close a deal as won',
			leavesTheCrm: false,
		}),
	],
};
