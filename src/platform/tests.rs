use super::*;
use rstest::rstest;

#[rstest]
#[case::kernel_name("x86_64", "amd64")]
#[case::dash("x86-64", "amd64")]
#[case::windows_name("x64", "amd64")]
#[case::upper_case("AMD64", "amd64")]
#[case::kernel_arm("aarch64", "arm64")]
#[case::old_arm("armv8", "arm64")]
#[case::variant_in_the_name("arm64/v8", "arm64")]
#[case::i386("i386", "386")]
#[case::i486("i486", "386")]
#[case::i586("i586", "386")]
#[case::i686("i686", "386")]
#[case::x86("x86", "386")]
#[case::hard_float("armhf", "arm")]
#[case::soft_float("armel", "arm")]
#[case::armv5("armv5te", "arm")]
#[case::armv6("armv6l", "arm")]
#[case::armv7("armv7l", "arm")]
#[case::arm_with_variant("arm/v7", "arm")]
#[case::power("ppc64el", "ppc64le")]
#[case::riscv("riscv64", "riscv64")]
#[case::loong("loong64", "loong64")]
#[case::mips("mips64le", "mips64le")]
#[case::z("s390x", "s390x")]
fn an_architecture_is_normalised(#[case] name: &str, #[case] expected: &str) {
    assert_eq!(Architecture::parse(name).unwrap().as_str(), expected);
}

#[rstest]
#[case::empty("")]
#[case::unknown("unknown")]
#[case::unknown_in_upper_case("Unknown")]
#[case::space("amd 64")]
#[case::not_ascii("ämd64")]
#[case::only_a_variant("/v7")]
#[case::a_platform("linux/amd64")]
#[case::no_variant_after_the_slash("arm64/")]
#[case::too_long_for_a_label(&"a".repeat(64))]
fn what_cannot_be_a_label_value_is_no_architecture(#[case] name: &str) {
    assert_eq!(Architecture::parse(name), None);
}

#[rstest]
#[case::plain("linux/amd64", Some("linux/amd64"))]
#[case::variant("Linux/ARM/V7", Some("linux/arm/v7"))]
#[case::windows("windows/amd64", Some("windows/amd64"))]
#[case::no_architecture("linux", None)]
#[case::empty_variant("linux/arm/", None)]
#[case::any_os("any/amd64", None)]
#[case::odd_variant("linux/arm/v7 beta", None)]
#[case::four_parts("linux/arm/v7/x", None)]
#[case::no_os("/amd64", None)]
fn a_platform_is_read_from_its_notation(#[case] text: &str, #[case] expected: Option<&str>) {
    assert_eq!(
        Platform::parse(text).map(|platform| platform.to_string()),
        expected.map(str::to_owned)
    );
}
