import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import {
  ClickRequest,
  IncarnationRequest,
  InputView,
  PressKeysRequest,
  ScreenshotView,
  ScrollRequest,
  TypeTextRequest,
  vmOps,
} from '@inquest/contracts-vm';
import { RpcHandler } from '@inquest/messaging';
import { ScreensService } from './screens.service';

/** The screens of this node's machines over NATS. */
@Controller()
export class ScreensRpcController {
  constructor(private readonly screens: ScreensService) {}

  @RpcHandler(vmOps.screenshot)
  screenshot(@Payload() request: IncarnationRequest): Promise<ScreenshotView> {
    return this.screens.screenshot(request);
  }

  @RpcHandler(vmOps.click)
  click(@Payload() request: ClickRequest): Promise<InputView> {
    return this.screens.click(request);
  }

  @RpcHandler(vmOps.typeText)
  typeText(@Payload() request: TypeTextRequest): Promise<InputView> {
    return this.screens.typeText(request);
  }

  @RpcHandler(vmOps.pressKeys)
  pressKeys(@Payload() request: PressKeysRequest): Promise<InputView> {
    return this.screens.pressKeys(request);
  }

  @RpcHandler(vmOps.scroll)
  scroll(@Payload() request: ScrollRequest): Promise<InputView> {
    return this.screens.scroll(request);
  }
}
